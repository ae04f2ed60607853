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
#define CL100K(digits)                                                                                              \
    CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" SPACES
/* o200k's: a word is capitals and then small letters; `tail` may follow it. */
#define UPPER "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define LOWER "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define O200K(digits, tail)                                                                                         \
    "[^\\r\\n\\p{L}\\p{N}]?" UPPER "*" LOWER "+" tail "|[^\\r\\n\\p{L}\\p{N}]?" UPPER "+" LOWER "*" tail            \
    "|" digits "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" SPACES
/* BLOOM's: everything up to a blank or a mark of punctuation. */
#define BLOOM " ?[^(\\s|.,!?\xE2\x80\xA6\xE3\x80\x82\xEF\xBC\x8C\xE3\x80\x81\xE0\xA5\xA4\xDB\x94\xD8\x8C)]+"
#define CJK_DEEPSEEK "[\\x{4E00}-\\x{9FA5}\\x{0800}-\\x{4E00}\\x{AC00}-\\x{D7FF}]+"

/* The letters of scripts with two cases, as DeepSeek-LLM lists them. */
#define CASED_LETTERS                                                                                               \
    "A-Za-z\\x{B5}\\x{C0}-\\x{D6}\\x{D8}-\\x{F6}\\x{F8}-\\x{1BA}\\x{1BC}-\\x{1BF}\\x{1C4}-\\x{293}"                 \
    "\\x{295}-\\x{2AF}\\x{370}-\\x{373}\\x{376}\\x{377}\\x{37B}-\\x{37D}\\x{37F}\\x{386}\\x{388}-\\x{38A}"          \
    "\\x{38C}\\x{38E}-\\x{3A1}\\x{3A3}-\\x{3F5}\\x{3F7}-\\x{481}\\x{48A}-\\x{52F}\\x{531}-\\x{556}"                 \
    "\\x{10A0}-\\x{10C5}\\x{13A0}-\\x{13F5}\\x{13F8}-\\x{13FD}\\x{1C90}-\\x{1CBA}\\x{1CBD}-\\x{1CBF}"               \
    "\\x{1D00}-\\x{1D2B}\\x{1D6B}-\\x{1D77}\\x{1D79}-\\x{1D9A}\\x{1E00}-\\x{1F15}\\x{1F18}-\\x{1F1D}"               \
    "\\x{1F20}-\\x{1F45}\\x{1F48}-\\x{1F4D}\\x{1F50}-\\x{1F57}\\x{1F59}\\x{1F5B}\\x{1F5D}\\x{1F5F}-\\x{1F7D}"       \
    "\\x{1F80}-\\x{1FB4}\\x{1FB6}-\\x{1FBC}\\x{1FBE}\\x{1FC2}-\\x{1FC4}\\x{1FC6}-\\x{1FCC}\\x{1FD0}-\\x{1FD3}"      \
    "\\x{1FD6}-\\x{1FDB}\\x{1FE0}-\\x{1FEC}\\x{1FF2}-\\x{1FF4}\\x{1FF6}-\\x{1FFC}\\x{2102}\\x{2107}"                \
    "\\x{210A}-\\x{2113}\\x{2115}\\x{2119}-\\x{211D}\\x{2124}\\x{2126}\\x{2128}\\x{212A}-\\x{212D}"                 \
    "\\x{212F}-\\x{2134}\\x{2139}\\x{213C}-\\x{213F}\\x{2145}-\\x{2149}\\x{214E}\\x{2183}\\x{2184}"                 \
    "\\x{2C00}-\\x{2C7B}\\x{2C7E}-\\x{2CE4}\\x{2CEB}-\\x{2CEE}\\x{2CF2}\\x{2CF3}\\x{A640}-\\x{A66D}"                \
    "\\x{A680}-\\x{A69B}\\x{A722}-\\x{A76F}\\x{A771}-\\x{A787}\\x{A78B}-\\x{A78E}\\x{AB70}-\\x{ABBF}"               \
    "\\x{FB00}-\\x{FB06}\\x{FB13}-\\x{FB17}\\x{FF21}-\\x{FF3A}\\x{FF41}-\\x{FF5A}\\x{10400}-\\x{1044F}"             \
    "\\x{104B0}-\\x{104D3}\\x{104D8}-\\x{104FB}\\x{10C80}-\\x{10CB2}\\x{10CC0}-\\x{10CF2}\\x{118A0}-\\x{118DF}"     \
    "\\x{1E900}-\\x{1E943}"

static const qn_pre_kind kinds[] = {
    {" default ", {"[\\p{P}\\$\\+<=>\\^~\\|]+", GPT2, "\\p{N}+", "[0-9][0-9][0-9]"}},
    {" gpt-2 phi-2 mpt olmo jais trillion granite-docling gigachat exaone4 a.x-4.0 mellum ", {GPT2}},
    {" starcoder refact command-r smollm codeshell exaone minerva-7b mellum2 ", {"\\p{N}", GPT2}},
    {" qwen2 deepseek-r1-qwen megrez stablelm2 hunyuan solar-open grok-2 kormo ", {CL100K("\\p{N}")}},
    {" llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 ",
     {CL100K("\\p{N}{1,3}")},
     .ignores_merges = true, .adds_bos = true},
    {" glm4 glm5 ", {CL100K("\\p{N}{1,3}")}, .ignores_merges = true},
    {" dbrx smaug-bpe chatglm-bpe ", {CL100K("\\p{N}{1,3}")}},
    {" qwen35 ",
     {CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|" SPACES}},
    {" seed-coder ",
     {CONTRACTIONS "|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|" SPACES}},
    {" bailingmoe bailingmoe2 llada-moe ",
     {"'(?i:[sdmt]|ll|ve|re)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
      "|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+"}},
    {" tekken ", {O200K("\\p{N}", "")}, .ignores_merges = true, .adds_bos = true},
    {" gpt-4o llama4 kanana2 minimax-m2 ", {O200K("\\p{N}{1,3}", CONTRACTIONS "?")}},
    {" falcon ", {"[\\p{P}\\$\\+<=>\\^~\\|`]+", GPT2, "[0-9][0-9][0-9]"}},
    {" deepseek-coder ", {"[\\r\\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", CJK_DEEPSEEK, "\\p{N}"}},
    {" deepseek-llm ",
     {"[\\r\\n]", "\\s?[" CASED_LETTERS "]+",
      "\\s?[!-/:-~\\x{FF01}-\\x{FF0F}\\x{FF1A}-\\x{FF5E}\\x{2018}-\\x{201F}\\x{3000}-\\x{3002}]+", "\\s+$",
      CJK_DEEPSEEK, "\\p{N}+"}},
    {" deepseek-v3 hunyuan-dense ",
     {"\\p{N}{1,3}", "[\\x{4E00}-\\x{9FA5}\\x{3040}-\\x{309F}\\x{30A0}-\\x{30FF}]+",
      "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
      "| ?[\\p{P}\\p{S}]+[\\r\\n]*|" SPACES}},
    {" bloom poro-chat gpt3-finnish ", {BLOOM}},
    {" viking ", {BLOOM, "\\p{N}"}},
};

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* Kinds whose models publish NFC as the form that a text is brought into first; the others take it as it is. */
static const char nfc_kinds[] = " qwen2 qwen35 mpt olmo modern-bert command-r ";

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

bool qn_pre_kind_is_nfc(qn_str name) { return is_listed(name, nfc_kinds); }
