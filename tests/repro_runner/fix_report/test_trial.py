"""A changed program is tried against the original: in processes of their own, nothing of the user's touched."""

from __future__ import annotations

import importlib.machinery
import linecache
import re
import subprocess
import sys
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
import torch

