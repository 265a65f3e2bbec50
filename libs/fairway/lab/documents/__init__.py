"""Documents made from the code for those who do not read Python: JSON Schemas and AsyncAPI."""
