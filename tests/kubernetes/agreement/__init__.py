"""What Fairway's placement says fits is placed by real schedulers: random cases, see docs/reliability.md."""
