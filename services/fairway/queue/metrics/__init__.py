"""What an operator watches of the queues."""
