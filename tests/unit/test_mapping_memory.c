/* SPDX-License-Identifier: MIT */
/*
 * Nothing is allocated for a row: neither by us nor, for derived ids, by OpenSSL. All calls of
 * malloc, calloc and realloc in this program are led here by the linker (--wrap), those of OpenSSL
 * by its own hooks.
 */
#include <openssl/crypto.h>

#include "support/allocator_calls.h"
#include "support/lookup_rig.h"

static void *crypto_malloc(size_t bytes, const char *file, int line)
{
    (void)file;
    (void)line;
    return malloc(bytes);
}

static void *crypto_realloc(void *memory, size_t bytes, const char *file, int line)
{
    (void)file;
    (void)line;
    return realloc(memory, bytes);
}

static void crypto_free(void *memory, const char *file, int line)
{
    (void)file;
    (void)line;
    free(memory);
}

/* Rows of all types, lookups of all ways, a name of each kind. */
static const char header[] =
    "code,name,notes,pieces,serial,weight,angle,price,sold,kind,tags,built,maker:account(#x),"
    "buyer:contact,ownerid:systemuser(domainname),statuscode,plain";
static const char *const cells[CELLS] = {
    "4711",  "M\u00fcller", "a\nb \"c\"", "007",  "5",  "1.50", "6.5e1", "12.00", "yes",
    "Gizmo", "Red; Blue",   "2024-02-29", "4712", ID_1, "anna", "Old",   "x",
};

static void map_rows(struct weir_record *record, int count)
{
    for (int i = 0; i < count; i++) {
        record->number++;
        weir_arena_reset(rig_arena);
        must(weir_mapping_record(mapping, (enum weir_pass)(i % WEIR_PASSES), record, rig_arena,
                                 &draft));
        if (draft.refusal.len)
            ck_abort_msg("%.*s", (int)draft.refusal.len, draft.refusal.ptr);
    }
}

static struct weir_references *make_references(void)
{
    struct weir_references *references = weir_references_new();
    struct weir_guid id;
    must(weir_guid_parse(weir_str_from(ID_1), &id));
    must(weir_references_add(references, 0, weir_str_from("anna"), &id, NULL) == WEIR_OK);
    return references;
}

/* Named: rows that have just these members. */
static void count_allocations(bool named)
{
    struct weir_str values[CELLS];
    struct weir_record record = { .cells = values };
    struct weir_references *references = make_references();
    rig_options.id_from = "code";
    rig_options.named = named;
    rig_open(header);
    weir_mapping_set_references(mapping, references);
    record.names = named ? rig_names : NULL;
    record.cell_count = rig_options.columns.count;
    for (uint32_t i = 0; i < record.cell_count; i++)
        values[i] = weir_str_from(cells[i]);
    map_rows(&record, WEIR_PASSES);
    uint64_t before = allocator_calls;
    must(before > 0);
    map_rows(&record, 3000);
    ck_assert_uint_eq(allocator_calls, before);
    weir_references_free(references);
}

START_TEST(no_row_of_cells_costs_an_allocation)
{
    count_allocations(false);
}
END_TEST

START_TEST(no_row_of_members_costs_an_allocation)
{
    count_allocations(true);
}
END_TEST

START_TEST(no_row_by_a_key_costs_an_allocation)
{
    struct weir_str values[] = { weir_str_from("5"), weir_str_from("Gizmo"),
                                 weir_str_from("7,\"A,1\"") };
    struct weir_record record = { .cells = values, .cell_count = COUNT(values) };
    rig_options.operation = WEIR_OPERATION_UPSERT;
    rig_options.key = "serial,kind";
    rig_open("serial,kind,maker:account(region,accountnumber)");
    map_rows(&record, 3);
    uint64_t before = allocator_calls;
    map_rows(&record, 3000);
    ck_assert_uint_eq(allocator_calls, before);
}
END_TEST

int main(void)
{
    struct suite s = suite_new("mapping_memory");
    if (!CRYPTO_set_mem_functions(crypto_malloc, crypto_realloc, crypto_free))
        return 1;
    lookup_add(&s, no_row_of_cells_costs_an_allocation);
    lookup_add(&s, no_row_of_members_costs_an_allocation);
    lookup_add(&s, no_row_by_a_key_costs_an_allocation);
    return suite_run(&s);
}
