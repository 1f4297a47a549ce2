"""`yield from` goes over an iterator whose class has `__next__` but no
`__iter__`. Python needs only `__next__` here; Dynamo wants both."""
import torch


class Rows:
    def __init__(self, x):
        self.rest = list(x)

    def __next__(self):
        if not self.rest:
            raise StopIteration
        return self.rest.pop()


class Iterator(Rows):
    def __iter__(self):
        return self


class Table:
    def __init__(self, x, rows):
        self.x, self.rows = x, rows

    def __iter__(self):
        return self.rows(self.x)


def delegated(table):
    yield from table


def looped(table):
    for row in table:
        yield row


def inputs():
    return (torch.randn(3, 8),)


def broken(x):
    return sum(delegated(Table(x, Rows))).sin()


def fixed(x):
    """Use this when the iterator is yours. Give it an `__iter__` that returns
    itself, as Python asks of iterators."""
    return sum(delegated(Table(x, Iterator))).sin()


def fixed_loop(x):
    """Use this when the iterator is not yours. Loop over it with `for`,
    instead of `yield from`."""
    return sum(looped(Table(x, Rows))).sin()
