"""`fairway setup` and `fairway credentials`: what has to be there before the services start."""
