"""What differs between operating systems. Everything above this folder is the same on all."""
