/* SPDX-License-Identifier: MIT */
/*
 * Choices by label, against a model that looks through all of them: the same to the byte, else the
 * same as the database compares them. Few choices and many are found in different ways.
 */
#include "records/choice_index.h"

#include "base/mem.h"
#include "base/rng.h"
#include "records/fold.h"
#include "support/suite.h"

#define CHOICES_MAX 40

static const char *const labels[] = { "Red",
                                      "red",
                                      "RED",
                                      " Red ",
                                      "Green",
                                      "Gr\xc3\xbcn",
                                      "grun",
                                      "GRUN ",
                                      "Blue",
                                      "blue\xc2\xad",
                                      "Bl\xc3\xbc"
                                      "e",
                                      "",
                                      " ",
                                      "7",
                                      "Red 7",
                                      "\xef\xbc\xb2"
                                      "ed" };

#define LABELS (sizeof(labels) / sizeof(labels[0]))

static struct weir_str folded(struct weir_str text, char *to)
{
    size_t len = 0;
    while (text.len)
        len += weir_fold_next(&text, to + len);
    return weir_str(to, len);
}

static int count(const struct weir_choice *choices, uint32_t choice_count, struct weir_str cell,
                 bool alike, const struct weir_choice *found, bool *ret_found)
{
    int sum = 0;
    char a[64], b[64];
    for (uint32_t i = 0; i < choice_count; i++) {
        struct weir_str label = weir_str_trim(weir_str_from(choices[i].label));
        bool same =
            alike ? weir_str_equal(folded(label, a), folded(cell, b)) : weir_str_equal(label, cell);
        sum += label.len && same;
        *ret_found = *ret_found || (label.len && same && &choices[i] == found);
    }
    return sum;
}

static void check(const struct weir_choice_index *index, const struct weir_choice *choices,
                  uint32_t choice_count, const char *text)
{
    const struct weir_choice *found = NULL;
    struct weir_str cell = weir_str_trim(weir_str_from(text));
    int got = weir_choice_index_label(index, weir_str_from(text), &found);
    bool among = false;
    int wanted = count(choices, choice_count, cell, false, found, &among);
    if (!wanted)
        wanted = count(choices, choice_count, cell, true, found, &among);
    wanted = cell.len ? wanted : 0;
    must(got == (wanted < 2 ? wanted : 2));
    must((found != NULL) == (wanted > 0) && (!found || among));
}

START_TEST(a_label_means_what_the_model_says)
{
    for (uint64_t seed = 0; seed < 4000; seed++) {
        struct weir_rng rng;
        struct weir_choice choices[CHOICES_MAX];
        struct weir_choice_index index;
        weir_rng_init(&rng, seed, 0);
        uint32_t choice_count = (uint32_t)weir_rng_below(&rng, CHOICES_MAX + 1);
        for (uint32_t i = 0; i < choice_count; i++)
            choices[i] = (struct weir_choice){
                .value = (int32_t)i,
                .label = weir_rng_below(&rng, 8) ? labels[weir_rng_below(&rng, LABELS)] : NULL,
            };
        weir_choice_index_init(&index, choices, choice_count);
        for (size_t i = 0; i < LABELS; i++)
            check(&index, choices, choice_count, labels[i]);
        weir_choice_index_release(&index);
    }
}
END_TEST

int main(void)
{
    struct suite s = suite_new("choice_index");
    suite_add(&s, a_label_means_what_the_model_says);
    return suite_run(&s);
}
