/* The table of pre-tokenizer kinds: for each value of tokenizer.ggml.pre the patterns that its models publish, applied
 * one after another. A pattern cuts every part that the one before left into its matches and what is between them; a
 * part is a text of its own for ^, $ and look-ahead.
 *
 * A missing kind is "default". That is what converters wrote when they knew no better; peers cut such files by
 * punctuation, the GPT-2 pattern and groups of three digits, so the same is done here.
 *
 * SPDX-License-Identifier: MIT */
#include "text/tokenizer_int.h"

/* GPT-2's words: contractions, then letters, digits or other characters, each with at most one space before it. */
#define GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
/* cl100k's, with runs of `digits` in numbers. */
#define CONTRACTIONS "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define SPACES "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define CL100K(digits) CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" SPACES
/* o200k's: a word is capitals and then small letters; `tail` may follow it. */
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define O200K(digits, tail)                                                                                         \
    "[^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER "+" tail "|[^\\r\\n\\p{L}\\p{N}]?" UPPER "+" LOWER "*" tail "|" digits \
    "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACES
/* BLOOM's: everything up to a blank or a mark of punctuation. */
#define BLOOM " ?[^(\\s|.,!?\xE2\x80\xA6\xE3\x80\x82\xEF\xBC\x8C\xE3\x80\x81\xE0\xA5\xA4\xDB\x94\xD8\x8C)]+"
/* DeepSeek-V3's, after numbers and ideographs were cut off: words with their marks, and punctuation. */
#define DEEPSEEK_V3                                                                                     \
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+" \
    "| ?[\\p{P}\\p{S}]+"
#define KANA_AND_IDEOGRAPHS "[\\x{4E00}-\\x{9FA5}\\x{3040}-\\x{309F}\\x{30A0}-\\x{30FF}]+"
#define CJK_DEEPSEEK "[\\x{4E00}-\\x{9FA5}\\x{0800}-\\x{4E00}\\x{AC00}-\\x{D7FF}]+"

/* The letters of scripts with two cases, as DeepSeek-LLM lists them. */
#define CASED_LETTERS                                                                                           \
    "A-Za-z\\x{B5}\\x{C0}-\\x{D6}\\x{D8}-\\x{F6}\\x{F8}-\\x{1BA}\\x{1BC}-\\x{1BF}\\x{1C4}-\\x{293}"             \
    "\\x{295}-\\x{2AF}\\x{370}-\\x{373}\\x{376}\\x{377}\\x{37B}-\\x{37D}\\x{37F}\\x{386}\\x{388}-\\x{38A}"      \
    "\\x{38C}\\x{38E}-\\x{3A1}\\x{3A3}-\\x{3F5}\\x{3F7}-\\x{481}\\x{48A}-\\x{52F}\\x{531}-\\x{556}"             \
    "\\x{10A0}-\\x{10C5}\\x{13A0}-\\x{13F5}\\x{13F8}-\\x{13FD}\\x{1C90}-\\x{1CBA}\\x{1CBD}-\\x{1CBF}"           \
    "\\x{1D00}-\\x{1D2B}\\x{1D6B}-\\x{1D77}\\x{1D79}-\\x{1D9A}\\x{1E00}-\\x{1F15}\\x{1F18}-\\x{1F1D}"           \
    "\\x{1F20}-\\x{1F45}\\x{1F48}-\\x{1F4D}\\x{1F50}-\\x{1F57}\\x{1F59}\\x{1F5B}\\x{1F5D}\\x{1F5F}-\\x{1F7D}"   \
    "\\x{1F80}-\\x{1FB4}\\x{1FB6}-\\x{1FBC}\\x{1FBE}\\x{1FC2}-\\x{1FC4}\\x{1FC6}-\\x{1FCC}\\x{1FD0}-\\x{1FD3}"  \
    "\\x{1FD6}-\\x{1FDB}\\x{1FE0}-\\x{1FEC}\\x{1FF2}-\\x{1FF4}\\x{1FF6}-\\x{1FFC}\\x{2102}\\x{2107}"            \
    "\\x{210A}-\\x{2113}\\x{2115}\\x{2119}-\\x{211D}\\x{2124}\\x{2126}\\x{2128}\\x{212A}-\\x{212D}"             \
    "\\x{212F}-\\x{2134}\\x{2139}\\x{213C}-\\x{213F}\\x{2145}-\\x{2149}\\x{214E}\\x{2183}\\x{2184}"             \
    "\\x{2C00}-\\x{2C7B}\\x{2C7E}-\\x{2CE4}\\x{2CEB}-\\x{2CEE}\\x{2CF2}\\x{2CF3}\\x{A640}-\\x{A66D}"            \
    "\\x{A680}-\\x{A69B}\\x{A722}-\\x{A76F}\\x{A771}-\\x{A787}\\x{A78B}-\\x{A78E}\\x{AB70}-\\x{ABBF}"           \
    "\\x{FB00}-\\x{FB06}\\x{FB13}-\\x{FB17}\\x{FF21}-\\x{FF3A}\\x{FF41}-\\x{FF5A}\\x{10400}-\\x{1044F}"         \
    "\\x{104B0}-\\x{104D3}\\x{104D8}-\\x{104FB}\\x{10C80}-\\x{10CB2}\\x{10CC0}-\\x{10CF2}\\x{118A0}-\\x{118DF}" \
    "\\x{1E900}-\\x{1E943}"

/* The script Han, as of Unicode 15.1. */
#define HAN                                                                                                     \
    "\\x{2E80}-\\x{2E99}\\x{2E9B}-\\x{2EF3}\\x{2F00}-\\x{2FD5}\\x{3005}\\x{3007}\\x{3021}-\\x{3029}"            \
    "\\x{3038}-\\x{303B}\\x{3400}-\\x{4DBF}\\x{4E00}-\\x{9FFF}\\x{F900}-\\x{FA6D}\\x{FA70}-\\x{FAD9}\\x{16FE2}" \
    "\\x{16FE3}\\x{16FF0}\\x{16FF1}\\x{20000}-\\x{2A6DF}\\x{2A700}-\\x{2B739}\\x{2B740}-\\x{2B81D}"             \
    "\\x{2B820}-\\x{2CEA1}\\x{2CEB0}-\\x{2EBE0}\\x{2EBF0}-\\x{2EE5D}\\x{2F800}-\\x{2FA1D}\\x{30000}-\\x{3134A}" \
    "\\x{31350}-\\x{323AF}"
#define KIMI_UPPER "(?:(?![" HAN "])" UPPER ")"
#define KIMI_LOWER "(?:(?![" HAN "])" LOWER ")"

/* Scripts that AFMoE cuts off: ideographs, kana, part of Thai, Lao, Khmer, Burmese, Hangul. */
#define AFMOE_SCRIPTS                                                                                  \
    "[\\x{4E00}-\\x{9FFF}\\x{3400}-\\x{4DBF}\\x{F900}-\\x{FAFF}\\x{3040}-\\x{309F}\\x{30A0}-\\x{30FF}" \
    "\\x{FF65}-\\x{FF9F}\\x{2F00}-\\x{2FDF}\\x{0E40}-\\x{0E7F}\\x{0E80}-\\x{0EFF}\\x{1780}-\\x{17FF}"  \
    "\\x{1000}-\\x{109F}\\x{AA60}-\\x{AA7F}\\x{A9E0}-\\x{A9FF}\\x{AC00}-\\x{D7AF}\\x{1100}-\\x{11FF}]+"

/* What \b takes for a part of a word where these patterns come from: letters and circled ones, marks, connectors, and
 * of the numbers digits, letters and those of Latin-1. */
#define IN_WORD                                                                                 \
    "[\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{B2}\\x{B3}\\x{B9}\\x{BC}-\\x{BE}\\x{24B6}-\\x{24E9}" \
    "\\x{1F130}-\\x{1F149}\\x{1F150}-\\x{1F169}\\x{1F170}-\\x{1F189}]"

/* Groups of three digits counted from the right are two or three patterns here: a run of digits that fit, then the
 * longest end of it that can be divided, then threes from the left. */
static const qn_pre_kind kinds[] = {
    {" default ", {"[\\p{P}\\$\\+<=>\\^~\\|]+", GPT2, "\\p{N}+", "[0-9][0-9][0-9]"}},
    {" gpt-2 phi-2 mpt olmo jais trillion granite-docling gigachat exaone4 a.x-4.0 mellum modern-bert roberta-bpe"
     " jina-v1-en jina-v2-code jina-v2-es jina-v2-de jina-es jina-de ",
     {GPT2}},
    {" starcoder refact command-r smollm codeshell exaone minerva-7b mellum2 ", {"\\p{N}", GPT2}},
    {" qwen2 deepseek-r1-qwen megrez stablelm2 hunyuan solar-open grok-2 kormo f2llmv2 ", {CL100K("\\p{N}")}},
    {" llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano ",
     {CL100K("\\p{N}{1,3}")},
     .ignores_merges = true,
     .adds_bos = true},
    {" glm4 glm5 chatglm-bpe ", {CL100K("\\p{N}{1,3}")}, .ignores_merges = true},
    {" dbrx smaug-bpe ", {CL100K("\\p{N}{1,3}")}},
    {" minicpm5 ", {"\\p{N}{1,3}", CL100K("\\p{N}+")}, .ignores_merges = true},
    /* Published as one pattern; blanks are cut into powers of two afterwards here, for the sake of a small table. */
    {" jais-2 ",
     {CL100K("\\p{N}{1,3}"),
      "\\s?\\S+[\\r\\n]*|\\s*[\\r\\n]+|\\s{512}|\\s{256}|\\s{128}|\\s{64}|\\s{32}|\\s{16}|\\s{8}|\\s{4}|\\s{1,2}"}},
    {" laguna ", {"[^\\n]+|[\\n]+", CL100K("\\p{N}")}},
    {" ufakzeka ", {"[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" SPACES}},
    {" qwen35 ",
     {CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" SPACES}},
    {" seed-coder ", {CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|" SPACES}},
    {" exaone-moe ",
     {CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?"
                   "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"}},
    {" bailingmoe bailingmoe2 llada-moe ",
     {"'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
      "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"}},
    {" tekken ", {O200K("\\p{N}", "")}, .ignores_merges = true, .adds_bos = true},
    {" gpt-4o llama4 granite-embed-multi-97m ", {O200K("\\p{N}{1,3}", CONTRACTIONS "?")}, .ignores_merges = true},
    {" kanana2 minimax-m2 talkie ", {O200K("\\p{N}{1,3}", CONTRACTIONS "?")}},
    {" tiny_aya cohere2moe ", {"\\d+(?!" IN_WORD ")", "(?:\\d{3})+$", O200K("\\p{N}{1,3}", CONTRACTIONS "?")}},
    {" youtu ",
     {"[\\x{AC00}-\\x{D7A3}\\x{3131}-\\x{318E}]+|[\\x{FF01}\\x{2026}\\x{201C}\\x{201D}\\x{2018}\\x{2019}\\x{2014}"
      "\\x{FF1A}\\x{FF1B}\\x{FF0C}\\x{3001}-\\x{303F}\\x{FE30}-\\x{FE4F}]+|[\\x{3105}-\\x{312F}]+|" KANA_AND_IDEOGRAPHS,
      O200K("\\p{N}", CONTRACTIONS "?")},
     .ignores_merges = true},
    {" kimi-k2 ",
     {"[" HAN "]+|[^\\r\\n\\p{L}\\p{N}]?" KIMI_UPPER "*" KIMI_LOWER "+" CONTRACTIONS "?"
      "|[^\\r\\n\\p{L}\\p{N}]?" KIMI_UPPER "+" KIMI_LOWER "*" CONTRACTIONS "?"
      "|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" SPACES},
     .ignores_merges = true},
    {" falcon ", {"[\\p{P}\\$\\+<=>\\^~\\|`]+", GPT2, "[0-9][0-9][0-9]"}},
    {" deepseek-coder ", {"[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", CJK_DEEPSEEK, "\\p{N}"}},
    {" deepseek-llm ",
     {"[\\r\\n]", "\\s?[" CASED_LETTERS "]+",
      "\\s?[!-/:-~\\x{FF01}-\\x{FF0F}\\x{FF1A}-\\x{FF5E}\\x{2018}-\\x{201F}\\x{3000}-\\x{3002}]+", "\\s+$",
      CJK_DEEPSEEK, "\\p{N}"}},
    {" deepseek-v3 hunyuan-dense joyai-llm hy_v4 ",
     {"\\p{N}{1,3}", KANA_AND_IDEOGRAPHS, DEEPSEEK_V3 "[\\r\\n]*|" SPACES}},
    {" spark2_5 ", {"\\p{N}{1,3}", KANA_AND_IDEOGRAPHS, DEEPSEEK_V3 "|[\\r\\n]|\\s+(?!\\S)|\\s+", "\\p{N}"}},
    {" afmoe ", {"\\p{N}+", "(?:\\p{N}{3})+$", "\\p{N}{3}", AFMOE_SCRIPTS, DEEPSEEK_V3 "[\\r\\n]*|" SPACES}},
    {" superbpe ", {"\\p{N}+", "(?:\\d{3})+(?:\\D+|(?!\\d))", "\\d{3}\\D*"}},
    {" chameleon ",
     {"<sentinel:[0-9]+>", "IMGIMG[A-I]{1,4}Z", "[\\t\\n]|    |  ", "\\p{N}", "[\\p{P}!-/:-@\\[-`{-~]", GPT2},
     .adds_bos = true},
    {" bloom poro-chat gpt3-finnish ", {BLOOM}},
    {" viking ", {BLOOM, "\\p{N}"}},
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Kinds whose models publish NFC as the form that a text is brought into first; the others take it as it is. */
static const char nfc_kinds[] = " qwen2 qwen35 f2llmv2 mpt olmo modern-bert command-r ";

/* Kinds that are not cut: their vocabularies are spelled in characters, as Gemma's. */
static const char spelled_kinds[] = " gemma4 granite-embed-multi-311m sarvam-moe ";

bool qn_pre_kind_at(size_t i, const char **names, const char *const **patterns)
{
    if (i >= N_KINDS) {
        return false;
    }
    *names = kinds[i].names;
    *patterns = kinds[i].patterns;
    return true;
}

/* A list has a space around each name. */
static bool is_listed(qn_str name, const char *names)
{
    char spaced[66] = " "; /* names are short; a longer one is none of them */
    if (name.len > sizeof(spaced) - 3 || name.len == 0 || memchr(name.data, ' ', name.len) != NULL ||
        memchr(name.data, '\0', name.len) != NULL) {
        return false;
    }
    memcpy(spaced + 1, name.data, name.len);
    spaced[name.len + 1] = ' ';
    return strstr(names, spaced) != NULL;
}

const qn_pre_kind *qn_pre_kind_find(qn_str name)
{
    if (name.len == 0) {
        name = QN_STR("default");
    }
    for (size_t i = 0; i < N_KINDS; i++) {
        if (is_listed(name, kinds[i].names)) {
            return &kinds[i];
        }
    }
    return NULL;
}

bool qn_pre_kind_is_nfc(qn_str name)
{
    return is_listed(name, nfc_kinds);
}

bool qn_pre_kind_is_spelled(qn_str name)
{
    return is_listed(name, spelled_kinds);
}
