"""What a process tells those who watch it, and which of several processes tells what is the same for all of them."""
