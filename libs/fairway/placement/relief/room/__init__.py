"""How much room there is, node by node, when candidates go: in all clusters at once, and in one, step by step."""
