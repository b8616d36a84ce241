"""What a program may say but probably does not mean, beyond what the checker warns of."""
