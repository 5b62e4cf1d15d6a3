// arrow_fdw_import_file(): a foreign table of any width, also beyond the 1,600 columns that
// PostgreSQL allows CREATE FOREIGN TABLE (a limit of heap tuples, which a foreign table never
// forms).

#include "pg/bridge/bridge.h"
#include "pg/fdw/fdw.h"
#include "pg/fdw/table_ddl.h"
#include "pg/sql/run_sql.h"

extern "C" {
#include "access/heapam.h"
#include "access/table.h"
#include "catalog/namespace.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_class.h"
#include "utils/array.h"
#include "utils/inval.h"
}

namespace loom::pg {

namespace {

constexpr size_t kMaxColumns = INT16_MAX;

// The attoptions of new attributes, or none. Recent minor releases keep a version of each attribute
// there, which must not be lower than that of the attributes before it.
Datum attribute_options_maylongjmp() {
#ifdef LOOM_ATTRIBUTE_VERSIONS
    const char* text = psprintf("pg_attver=" UINT64_FORMAT, GetNextAttributeVersion());
    Datum option = PointerGetDatum(cstring_to_text(text));
    return PointerGetDatum(construct_array(&option, 1, TEXTOID, -1, false, TYPALIGN_INT));
#else
    return Datum{0};
#endif
}

// Adds columns to an existing foreign table by way of the catalogs.
void append_attributes_maylongjmp(Oid table, const ColumnDdl* columns, int count) {
    Relation attributes = table_open(AttributeRelationId, RowExclusiveLock);
    CatalogIndexState indexes = CatalogOpenIndexes(attributes);
    TupleDesc descriptor = CreateTemplateTupleDesc(count);
    for (int i = 0; i < count; ++i) {
        Oid type;
        int32 typmod;
        parse_type_maylongjmp(columns[i].type.c_str(), &type, &typmod);
        TupleDescInitEntry(descriptor, static_cast<AttrNumber>(i + 1), columns[i].name.c_str(),
                           type, typmod, type_is_array(type) ? 1 : 0);
        TupleDescAttr(descriptor, i)->attnum =
            static_cast<AttrNumber>(MaxHeapAttributeNumber + i + 1);
    }
    insert_attributes_maylongjmp(attributes, descriptor, table, attribute_options_maylongjmp(),
                                 indexes);
    CatalogCloseIndexes(indexes);
    table_close(attributes, RowExclusiveLock);

    Relation classes = table_open(RelationRelationId, RowExclusiveLock);
    HeapTuple tuple = SearchSysCacheCopy1(RELOID, ObjectIdGetDatum(table));
    if (!HeapTupleIsValid(tuple)) elog(ERROR, "cache lookup failed for relation %u", table);
    reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relnatts =
        static_cast<int16>(MaxHeapAttributeNumber + count);
    CatalogTupleUpdate(classes, &tuple->t_self, tuple);
    heap_freetuple(tuple);
    table_close(classes, RowExclusiveLock);
    CacheInvalidateRelcacheByRelid(table);
    CommandCounterIncrement();
}

void import_file(const std::string& name, const std::string& path, const std::string& schema) {
    io::FileSetSpec files;
    files.files = {path};
    if (path.empty() || path[0] != '/')
        base::raise(base::ErrorKind::kBadOption, "a file needs an absolute path, not \"{}\"", path);
    const format::DiscoveredTable table = format::describe_files(name, files);
    TableDdl ddl = make_table_ddl(table, schema, {});
    if (ddl.columns.size() > kMaxColumns)
        base::raise(base::ErrorKind::kLimit, "file \"{}\" has {} columns, more than {}", path,
                    ddl.columns.size(), kMaxColumns);
    for (const std::string& type : ddl.types) run_sql(type);
    run_sql(create_statement(ddl, schema, "arrow_fdw", MaxHeapAttributeNumber));
    if (ddl.columns.size() <= MaxHeapAttributeNumber) return;
    const char* schema_name = schema.c_str();
    const char* table_name = ddl.name.c_str();
    const ColumnDdl* extra = ddl.columns.data() + MaxHeapAttributeNumber;
    const int count = static_cast<int>(ddl.columns.size() - MaxHeapAttributeNumber);
    pg_call([&] {
        CommandCounterIncrement();
        const Oid oid = get_relname_relid(table_name, get_namespace_oid(schema_name, false));
        append_attributes_maylongjmp(oid, extra, count);
    });
    for (int i = 0; i < count; ++i)
        if (!extra[i].options.empty()) {
            std::string add = extra[i].options;
            add.insert(add.find('(') + 1, "ADD ");
            run_sql("ALTER FOREIGN TABLE " + quote_name(schema) + "." + quote_name(ddl.name) +
                    " ALTER COLUMN " + quote_name(extra[i].name) + add);
        }
}

}  // namespace

}  // namespace loom::pg

extern "C" {

PG_FUNCTION_INFO_V1(loom_arrow_fdw_import_file);
Datum loom_arrow_fdw_import_file(PG_FUNCTION_ARGS) {
    using namespace loom::pg;
    return pg_entry([fcinfo] {
        struct Arguments {
            char* name;
            char* path;
            char* schema;
        };
        const Arguments arguments = pg_call([fcinfo] {
            if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
                ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                                errmsg("relation name and file name must not be NULL")));
            if (!may_read_server_files())
                ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                                errmsg("permission denied to import files into foreign tables"),
                                errdetail("Only roles with privileges of the "
                                          "\"pg_read_server_files\" role may import files.")));
            return Arguments{
                text_to_cstring(PG_GETARG_TEXT_PP(0)), text_to_cstring(PG_GETARG_TEXT_PP(1)),
                PG_ARGISNULL(2) ? get_namespace_name(RangeVarGetCreationNamespace(makeRangeVar(
                                      nullptr, text_to_cstring(PG_GETARG_TEXT_PP(0)), -1)))
                                : text_to_cstring(PG_GETARG_TEXT_PP(2))};
        });
        import_file(arguments.name, arguments.path, arguments.schema);
        return Datum{0};
    });
}

}  // extern "C"
