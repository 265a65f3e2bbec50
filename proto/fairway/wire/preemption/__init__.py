"""Room got back for whom it is: claims of waiting jobs, and what is evicted for them."""
