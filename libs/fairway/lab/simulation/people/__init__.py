"""Who acts on a simulated fleet beside its services: users, administrators, attackers, and what fails."""
