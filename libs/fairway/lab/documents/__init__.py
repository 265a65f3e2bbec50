"""Documents made from the code for those who do not read Python: JSON Schemas, AsyncAPI, and the tables of pages that
people write."""
