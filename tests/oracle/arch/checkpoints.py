"""Random checkpoints for the comparison with transformers: what each is made of, its weights, a text and its logits.

SPDX-License-Identifier: MIT
"""
import numpy as np
import torch
import transformers

N_TOKENS = 300
N_CTX = 512
N_TEXTS = 48  # candidates for a text whose routing decisions are all clear

BASE = dict(vocab_size=512, hidden_size=128, intermediate_size=256, num_hidden_layers=4, num_attention_heads=8,
            num_key_value_heads=2, max_position_embeddings=N_CTX, rms_norm_eps=1e-6, tie_word_embeddings=False,
            pad_token_id=0, bos_token_id=1, eos_token_id=2)


def rope(kind, theta=10000.0, **more):
    return dict(rope_type=kind, rope_theta=theta, **more)


# name: (family, what differs from BASE)
CHECKPOINTS = {
    "llama-gqa": ("Llama", dict(num_hidden_layers=6)),
    "llama-tied": ("Llama", dict(tie_word_embeddings=True, num_key_value_heads=8, rms_norm_eps=1e-5)),
    "llama-biases": ("Llama", dict(attention_bias=True, mlp_bias=True, hidden_size=192, num_attention_heads=6,
                                   num_key_value_heads=3, vocab_size=1000)),
    "llama-head-dim": ("Llama", dict(head_dim=48, num_attention_heads=4, num_key_value_heads=1)),
    "llama-linear": ("Llama", dict(rope_parameters=rope("linear", factor=4.0))),
    "llama-llama3": ("Llama", dict(head_dim=32, rope_parameters=rope(
        "llama3", 500000.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
        original_max_position_embeddings=128))),
    "llama-yarn": ("Llama", dict(head_dim=32, rope_parameters=rope(
        "yarn", factor=4.0, original_max_position_embeddings=128))),
    "llama-yarn-betas": ("Llama", dict(head_dim=64, rope_parameters=rope(
        "yarn", 100000.0, factor=8.0, beta_fast=16.0, beta_slow=2.0, original_max_position_embeddings=64))),
    "mistral-window": ("Mistral", dict(sliding_window=50)),
    "mixtral": ("Mixtral", dict(num_local_experts=8, num_experts_per_tok=2, intermediate_size=128,
                                rope_parameters=rope("default", 1e6), sliding_window=None)),
    "qwen2": ("Qwen2", dict(hidden_size=256, num_attention_heads=4, vocab_size=768, tie_word_embeddings=True,
                            rope_parameters=rope("default", 1e6))),
    "qwen3": ("Qwen3", dict(head_dim=32, num_key_value_heads=4, rope_parameters=rope("default", 1e6))),
    "gemma2": ("Gemma2", dict(head_dim=32, query_pre_attn_scalar=32, num_hidden_layers=6, sliding_window=64,
                              attn_logit_softcapping=6.0, final_logit_softcapping=10.0, tie_word_embeddings=True)),
    "gemma3": ("Gemma3", dict(head_dim=32, query_pre_attn_scalar=48, num_hidden_layers=6, sliding_window=64,
                              tie_word_embeddings=True, layer_types=["sliding_attention", "sliding_attention",
                                                                     "full_attention"] * 2,
                              rope_parameters={"full_attention": rope("linear", 1e6, factor=8.0),
                                               "sliding_attention": rope("default")})),
}


def randomize(model, gemma):
    """Weights that keep activations near 1, with norms and biases that cannot be forgotten unseen."""
    for name, p in model.named_parameters():
        if name.endswith("bias"):
            p.normal_(0.0, 0.3)
        elif p.dim() == 1:
            p.normal_(0.0 if gemma else 1.0, 0.2)
        elif "embed_tokens" in name and not gemma:
            p.normal_(0.0, 1.0)
        else:
            p.normal_(0.0, p.shape[-1] ** -0.5)


def routing_margin(router_logits, n_used, n_texts):
    """For each text the smallest distance between the last expert that is used and the first that is not."""
    margins = []
    for layer in router_logits:
        best = layer.reshape(n_texts, N_TOKENS, -1).sort(dim=-1, descending=True).values
        margins.append((best[..., n_used - 1] - best[..., n_used]).amin(dim=1))
    return torch.stack(margins).amin(dim=0)


def random_text(model, n_vocab, n_texts=1):
    ids = torch.randint(3, n_vocab, (n_texts, N_TOKENS))
    ids[:, 0] = 1
    if n_texts == 1:
        return ids
    # Rounding that decides between two experts is no fault of either side: take the text where it is least likely.
    logits = model(ids, output_router_logits=True).router_logits
    best = routing_margin(logits, model.config.num_experts_per_tok, n_texts).argmax()
    return ids[best:best + 1]


@torch.no_grad()
def make(name):
    """The model of that name, ids[N_TOKENS] and the logits of every position."""
    family, more = CHECKPOINTS[name]
    config_class = getattr(transformers, family + ("TextConfig" if family == "Gemma3" else "Config"))
    config = config_class(**{**BASE, **more})
    torch.manual_seed(sum(name.encode()))
    model = getattr(transformers, family + "ForCausalLM")._from_config(config, attn_implementation="eager").eval()
    randomize(model, family.startswith("Gemma"))
    ids = random_text(model, config.vocab_size, N_TEXTS if family == "Mixtral" else 1)
    out = model(ids, use_cache=False).logits[0]
    return model, ids[0].numpy().astype(np.int32), out.numpy()
