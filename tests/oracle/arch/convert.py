"""Writes a transformers model as GGUF in F32, with a SentencePiece vocabulary of filler tokens.

SPDX-License-Identifier: MIT
"""
import math

import gguf
import numpy as np

ARCHITECTURES = {"llama": "llama", "mistral": "llama", "mixtral": "llama", "qwen2": "qwen2", "qwen3": "qwen3",
                 "gemma2": "gemma2", "gemma3_text": "gemma3"}

ENDS = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}

LAYER = {"input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
         "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm",
         "self_attn.k_norm": "attn_k_norm", "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate",
         "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "mlp.gate": "ffn_gate_inp"}

GEMMA_LAYER = {**LAYER, "post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
               "post_feedforward_layernorm": "post_ffw_norm"}


def head_dim(config):
    return getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads


def interleave(w, n_heads):
    """Rows of each head from halves (0, 1, ... | d/2, ...) to pairs that rotate together (0, d/2, 1, d/2 + 1, ...)."""
    return w.reshape(n_heads, 2, -1, *w.shape[1:]).swapaxes(1, 2).reshape(w.shape)


def llama3_factors(config):
    """What each rotary frequency is divided by: 1 for short waves, `factor` for long ones, a blend between."""
    p = config.rope_parameters
    d = head_dim(config)
    factors = []
    for i in range(d // 2):
        turns = p["original_max_position_embeddings"] / (2 * math.pi * p["rope_theta"] ** (2 * i / d))
        share = (turns - p["low_freq_factor"]) / (p["high_freq_factor"] - p["low_freq_factor"])
        share = min(max(share, 0.0), 1.0)
        factors.append(1.0 / ((1.0 - share) / p["factor"] + share))
    return np.array(factors, dtype=np.float32)


def write_rope(w, arch, config):
    p = config.rope_parameters
    if "full_attention" in p:  # Gemma 3: two kinds of layers
        w.add_float32(f"{arch}.rope.freq_base_swa", p["sliding_attention"]["rope_theta"])
        p = p["full_attention"]
    w.add_float32(f"{arch}.rope.freq_base", p["rope_theta"])
    w.add_uint32(f"{arch}.rope.dimension_count", head_dim(config))
    if p["rope_type"] in ("linear", "yarn"):
        w.add_string(f"{arch}.rope.scaling.type", p["rope_type"])
        w.add_float32(f"{arch}.rope.scaling.factor", p["factor"])
    if p["rope_type"] == "yarn":
        w.add_uint32(f"{arch}.rope.scaling.original_context_length", p["original_max_position_embeddings"])
        for beta in ("beta_fast", "beta_slow"):
            if p.get(beta) is not None:
                w.add_float32(f"{arch}.rope.scaling.yarn_{beta}", p[beta])
    elif p["rope_type"] == "llama3":
        w.add_tensor("rope_freqs.weight", llama3_factors(config))


def write_attention(w, arch, config):
    w.add_uint32(f"{arch}.attention.head_count", config.num_attention_heads)
    w.add_uint32(f"{arch}.attention.head_count_kv", config.num_key_value_heads)
    w.add_uint32(f"{arch}.attention.key_length", head_dim(config))
    w.add_uint32(f"{arch}.attention.value_length", head_dim(config))
    w.add_float32(f"{arch}.attention.layer_norm_rms_epsilon", config.rms_norm_eps)
    if getattr(config, "sliding_window", None):
        w.add_uint32(f"{arch}.attention.sliding_window", config.sliding_window)
    if arch == "gemma3":
        w.add_array(f"{arch}.attention.sliding_window_pattern", [t == "sliding_attention" for t in config.layer_types])
    scalar = getattr(config, "query_pre_attn_scalar", head_dim(config))
    if scalar != head_dim(config):
        w.add_float32(f"{arch}.attention.scale", scalar ** -0.5)
    for key in ("attn_logit_softcapping", "final_logit_softcapping"):
        if getattr(config, key, None):
            w.add_float32(f"{arch}.{key}", getattr(config, key))


def write_vocabulary(w, n_vocab):
    special = ["<unk>", "<s>", "</s>"]
    tokens = special + [f"<0x{b:02X}>" for b in range(256)] + ["\u2581"]
    tokens += [f"\u2581t{i}" for i in range(len(tokens), n_vocab)]
    kinds = [2, 3, 3] + [6] * 256 + [1] * (n_vocab - 259)
    w.add_tokenizer_model("llama")
    w.add_token_list(tokens)
    w.add_token_scores([0.0 if kind != 1 else -float(i) for i, kind in enumerate(kinds)])
    w.add_token_types(kinds)
    w.add_unk_token_id(0)
    w.add_bos_token_id(1)
    w.add_eos_token_id(2)


def gguf_tensors(name, t, arch, config):
    """(GGUF name, values) of a parameter: one, or two where gate and up stand in one."""
    module, _, kind = name.rpartition(".")
    if not module.startswith("model.layers."):
        yield f"{ENDS[module]}.{kind}", t
        return
    _, _, i, inner = module.split(".", 3)
    if inner == "mlp.experts" and kind == "gate_up_proj":
        gate, up = np.split(t, 2, axis=1)
        yield f"blk.{i}.ffn_gate_exps.weight", gate
        yield f"blk.{i}.ffn_up_exps.weight", up
    elif inner == "mlp.experts":
        yield f"blk.{i}.ffn_down_exps.weight", t
    else:
        if arch == "llama" and inner == "self_attn.q_proj":
            t = interleave(t, config.num_attention_heads)
        elif arch == "llama" and inner == "self_attn.k_proj":
            t = interleave(t, config.num_key_value_heads)
        names = GEMMA_LAYER if arch.startswith("gemma") else LAYER
        yield f"blk.{i}.{names[inner]}.{kind}", t


def write_gguf(model, path):
    config = model.config
    arch = ARCHITECTURES[config.model_type]
    w = gguf.GGUFWriter(path, arch)
    w.add_uint32(f"{arch}.block_count", config.num_hidden_layers)
    w.add_uint32(f"{arch}.context_length", config.max_position_embeddings)
    w.add_uint32(f"{arch}.embedding_length", config.hidden_size)
    w.add_uint32(f"{arch}.feed_forward_length", config.intermediate_size)
    if config.model_type == "mixtral":
        w.add_uint32(f"{arch}.expert_count", config.num_local_experts)
        w.add_uint32(f"{arch}.expert_used_count", config.num_experts_per_tok)
    write_attention(w, arch, config)
    write_rope(w, arch, config)
    write_vocabulary(w, config.vocab_size)
    for name, p in model.named_parameters():  # a tied output is not among them
        t = p.detach().numpy()
        if arch.startswith("gemma") and t.ndim == 1:
            t = t + np.float32(1.0)  # Gemma's norms are stored as the distance from 1
        for full, values in gguf_tensors(name, t, arch, config):
            w.add_tensor(full, np.ascontiguousarray(values, dtype=np.float32))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
