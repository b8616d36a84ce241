"""Replica exchange: ladders of chains at inverse temperatures from 0 to 1, and log Z along them."""
