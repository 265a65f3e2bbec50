"""Commands of operators: dead letters, the audit of the record, rebuilding the store, replaying decisions."""
