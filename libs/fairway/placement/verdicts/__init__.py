"""What each cluster says to a gang: that it fits, or the first reason against it; recorded, and put into words."""
