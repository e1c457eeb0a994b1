"""What follows from the contract and is written by hand, for server and clients alike.

May import the stubs and the rules, and nothing else of ours.
"""
