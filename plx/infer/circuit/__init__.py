"""Compiled circuits: exact answers where rules leave little, whatever the width."""
