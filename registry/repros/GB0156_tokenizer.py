"""The compiled function gets a text and calls a tokenizer, which is a library
written in Rust."""
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from torch._dynamo.decorators import skip

TITLE = "A tokenizer"
REQUIRES = {"module": "tokenizers"}
WORDS = ["graph", "break", "tensor", "trace"]

tokenizer = Tokenizer(WordLevel({word: at for at, word in enumerate(WORDS)}))
tokenizer.pre_tokenizer = Whitespace()
embed = torch.nn.Embedding(4, 8)


def encode(ids):
    return embed(ids).mean(0)


def inputs():
    words = [WORDS[at] for at in torch.randint(4, (5,)).tolist()]
    return (" ".join(words),)


def broken(text):
    ids = torch.tensor(tokenizer.encode(text).ids, device=embed.weight.device)
    return embed(ids).mean(0)


@skip
def fixed(text):
    """Use this when you can tokenize in the caller. Turn the text into numbers
    before the compiled function, best where you load the data. `skip` stands
    for a caller that you don't compile."""
    ids = torch.tensor(tokenizer.encode(text).ids, device=embed.weight.device)
    return encode(ids)
