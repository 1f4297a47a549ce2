"""What a minified script is made of besides the program itself: the text of these modules goes into it, whole.

Each needs only torch, and has a `check…` that returns (exit code, what to say): 1 the failure is there, 0 it is gone,
3 something else is wrong.
"""
