"""What a tenant may: whose quota and queues it may name, how much it may submit, what its pods may ask for."""
