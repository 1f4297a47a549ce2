"""`tb_lasti` of a traceback tells at which bytecode instruction an exception
was raised. Dynamo keeps a traceback's file and line, not that number."""
import torch

REACH = "contrived"
NEIGHBOUR = "GB0135"


def check(n):
    if n % 2 == 0:
        raise ValueError("even")


def inputs():
    return (torch.randn(8),)


def broken(x):
    try:
        check(len(x))
    except ValueError as error:
        at = error.__traceback__.tb_next.tb_lasti
        line = list(check.__code__.co_positions())[at // 2][0]
    return x + 1, line


def fixed(x):
    """Use this when you want the line of the error. Read it from
    `tb_lineno`."""
    try:
        check(len(x))
    except ValueError as error:
        line = error.__traceback__.tb_next.tb_lineno
    return x + 1, line
