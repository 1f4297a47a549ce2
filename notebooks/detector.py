# %% [markdown]
# # Find the graph breaks of your own model
#
# `explain()` watches a block of your code and tells where graphs break in it, how often, and which fix the registry has
# for it. Put your model in place of the one below. At the end a language model can be asked about a break. Nothing is
# sent anywhere unless you name a server, in the environment or in the last cell.

# %%
import importlib.util
import logging
import os
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

if importlib.util.find_spec("repro_runner") is None:  # in Colab
    address = "graph-break-registry[llm] @ git+https://github.com/meta-pytorch/compile-graph-break-site"
    subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", address], check=True)

import torch
from IPython.display import display

from registry.advice import Advisor
from registry.knowledge import read_package
from registry.merge import merge_registry
from repro_runner.assistant import Settings, ask, read_settings, render_prompts
from repro_runner.explain import explain
from repro_runner.explain.program import ProgramToRun
from repro_runner.explain.running import run_program

logging.getLogger("torch._dynamo").setLevel(logging.ERROR)  # the report says the same, and more
torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"

# %% [markdown]
# ## The model
#
# It sorts short texts into classes. Four lines of `forward` look harmless, and each of them ends a graph. Can you tell
# which?

# %%
LOG = logging.getLogger("classifier")


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(50, 16)
        self.head = torch.nn.Linear(16, 4)

    def forward(self, tokens):
        x = self.embed(tokens).mean(dim=1)
        LOG.debug("%s texts", len(tokens))
        x = x / x.abs().max().item()
        if x.mean() > 0:
            x = x - x.mean()
        large = x[x > 0.5]
        return self.head(x) + large.sum()


# %% [markdown]
# ## Watch it
#
# Everything that is compiled and called inside the block is watched. Use the backend that you use anyway; `eager` is
# enough to find breaks, and needs no C++ compiler.

# %%
model = Classifier().to(device)
tokens = torch.randint(50, (8, 12), device=device)

with explain() as report:
    compiled = torch.compile(model, backend="eager")
    for _ in range(3):
        compiled(tokens)
print(len(report), "lines break the graph,", report.totals.graphs, "graphs were made")

# %% [markdown]
# Write `report` as the last line of a cell, and the notebook shows a table, the dearest break first. The next cell does
# so with small changes, so that it looks the same in each run: rows go by line, the name of the cell's temporary file
# becomes `cell`, and measured times get the sign ≈. Open the last column to see a fix.


# %%
def steady(text):
    text = re.sub(r"[^\s<>]*(?:ipykernel|ipython-input)[^\s<>:]*", "cell", text)
    return re.sub(r"(?<![\d.])(?<!≈ )(\d[\d.]* (?:s|ms|µs))\b", r"≈ \1", text)


report.sites = tuple(sorted(report.sites, key=lambda site: site.line))
display({kind: steady(text) for kind, text in report._repr_mimebundle_().items()}, raw=True)

# %% [markdown]
# "Resumed" means that torch ended the graph, let Python run the line, and went on with another graph. "Compiled" is how
# often the break was met while tracing, "ran" how often it cut a call in two. A break that runs in each call is worth
# more work than one that ran once.
#
# ## What the registry knows of each
#
# The registry has a small program for each kind of break, and fixes that were run: they compile as one graph, and equal
# eager. This is the first one that fits torch's message. It stands on the registry's program, so read it as a pattern.

# %%
registry = merge_registry(read_package())
advisor = Advisor(registry)

for site in report:
    advice = advisor.advise(site.gb_id, torch=report.environment["torch"], message=site.message)
    print(f"{site.gb_id}, {advice.category.title}:  {site.source}")
    for fix in advice.fixes[:1]:
        print(textwrap.fill(fix.when, 100, initial_indent="  ", subsequent_indent="  "))
        print(textwrap.indent(f"{fix.settings}\n{fix.code}".strip(), "    "), end="\n\n")

# %% [markdown]
# ## The model again, fixed
#
# Three lines follow these patterns. The log line needs no custom operator: it says nothing that only the model knows,
# so the caller writes it.


# %%
class Fixed(Classifier):
    def forward(self, tokens):
        x = self.embed(tokens).mean(dim=1)
        x = x / x.abs().max()
        x = torch.where(x.mean() > 0, x - x.mean(), x)
        large = torch.where(x > 0.5, x, 0)
        return self.head(x) + large.sum()


fixed = Fixed().to(device)
fixed.load_state_dict(model.state_dict())
torch._dynamo.reset()
with explain() as after:
    LOG.debug("%s texts", len(tokens))
    result = torch.compile(fixed, backend="eager")(tokens)

torch.testing.assert_close(result, model(tokens))
assert len(after) == 0 and after.totals.graphs == 1
print("no break, one graph, and the result is the same")

# %% [markdown]
# ## Ask a language model
#
# The registry's fixes are patterns; they do not know your code. A language model can be asked for a cause and a patch.
# A patch counts only after it was run: it must leave fewer breaks, and give equal outputs, on other random inputs too.
# To be run it needs a program, so here is one in a file of its own. With your own script, give its path.

# %%
place = tempfile.TemporaryDirectory()
script = Path(place.name) / "clip.py"
script.write_text("""\
import torch


def clip(x):
    if x.norm() > 2:
        return x * 2 / x.norm()
    return x


if __name__ == "__main__":
    torch.manual_seed(0)
    compiled = torch.compile(clip, backend="eager")
    for scale in (0.1, 10):
        compiled(torch.randn(8) * scale)
""")
program = ProgramToRun(script=str(script))
torch._dynamo.reset()
found = run_program(program)
print(*(f"{site.gb_id} at {Path(site.file).name}:{site.line}" for site in found), sep="\n")

# %% [markdown]
# `render_prompts` gives what would be sent, and nothing else is: torch's message, the function with the break, what the
# registry knows of it, and the form that the answer must have. Secrets and the folders of your machine are masked. The
# first lines after the request itself:

# %%
(prompt,) = render_prompts(found, answers=advisor)
print(*prompt.splitlines()[3:9], "…", sep="\n")

# %% [markdown]
# Any server that speaks OpenAI's protocol can be asked. Its address, your key and the name of a model come from the
# environment. If they are not set, nothing is sent.


# %%
def show(suggestions):
    for one in suggestions:
        print(f"{one.gb_ids[0]}, {one.model}: {one.verdict}" + (f", {one.reason}" if one.reason else ""))
        print(*filter(None, (textwrap.fill(one.cause, 100), one.patch)), sep="\n\n")


server, key, name = (os.environ.get(f"OPENAI_{each}") for each in ("BASE_URL", "API_KEY", "MODEL"))
if name and (server or key):
    show(ask(found, program, read_settings(), answers=advisor))
else:
    print("Nothing was sent: set OPENAI_MODEL, OPENAI_API_KEY and, for other servers, OPENAI_BASE_URL.")

# %% [markdown]
# An answer has one of three verdicts: *verified* (the patch ran with fewer breaks and equal outputs), *not verified*
# (with the reason), *no answer*. A patch that goes beyond plain torch code is shown, but not run. The others run as
# your own code does, so ask a model that you would take code from.
#
# ## With your own key
#
# Choose a server, fill in a model that it has, and take the `#` away from the last lines. The key is asked for, so that
# it is not saved in the notebook. The servers on `localhost` need none.

# %%
SERVERS = {
    "OpenAI": "https://api.openai.com/v1",
    "Anthropic": "https://api.anthropic.com/v1/",
    "DeepSeek": "https://api.deepseek.com/v1",
    "Gemini": "https://generativelanguage.googleapis.com/v1beta/openai/",
    "Groq": "https://api.groq.com/openai/v1",
    "Mistral": "https://api.mistral.ai/v1",
    "OpenRouter": "https://openrouter.ai/api/v1",
    "Together": "https://api.together.xyz/v1",
    "LM Studio": "http://localhost:1234/v1",
    "Ollama": "http://localhost:11434/v1",
    "vLLM": "http://localhost:8000/v1",
}
settings = Settings(url=SERVERS["Ollama"], model="the name of a model there")

# import dataclasses, getpass
# settings = dataclasses.replace(settings, api_key=getpass.getpass("key: "))
# show(ask(found, program, settings, answers=advisor))

# %% [markdown]
# In a terminal, `graphbreak explain --llm train.py` does all of this for your script, and `--show-prompt` prints what
# would be sent.
