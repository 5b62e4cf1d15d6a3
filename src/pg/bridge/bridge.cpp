#include "pg/bridge/bridge.h"

#include <cstring>
#include <new>

#include "exec/fault.h"

extern "C" {
#include "catalog/pg_authid.h"
#include "utils/acl.h"
#include "utils/pg_locale.h"
}

namespace loom::pg {

int sqlstate_of(base::ErrorKind kind) noexcept {
    switch (kind) {
        case base::ErrorKind::kCorrupt:
            return ERRCODE_DATA_CORRUPTED;
        case base::ErrorKind::kUnsupported:
            return ERRCODE_FEATURE_NOT_SUPPORTED;
        case base::ErrorKind::kLimit:
            return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
        case base::ErrorKind::kMemory:
            return ERRCODE_OUT_OF_MEMORY;
        case base::ErrorKind::kIo:
            return ERRCODE_IO_ERROR;
        case base::ErrorKind::kMissing:
            return ERRCODE_UNDEFINED_FILE;
        case base::ErrorKind::kDenied:
            return ERRCODE_INSUFFICIENT_PRIVILEGE;
        case base::ErrorKind::kTypeMismatch:
            return ERRCODE_DATATYPE_MISMATCH;
        case base::ErrorKind::kBadName:
            return ERRCODE_UNDEFINED_COLUMN;
        case base::ErrorKind::kBadOption:
            return ERRCODE_FDW_INVALID_ATTRIBUTE_VALUE;
        case base::ErrorKind::kValueRange:
            return ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE;
        case base::ErrorKind::kDatetimeRange:
            return ERRCODE_DATETIME_VALUE_OUT_OF_RANGE;
        case base::ErrorKind::kBadText:
            return ERRCODE_CHARACTER_NOT_IN_REPERTOIRE;
        case base::ErrorKind::kChanged:
            return ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
        case base::ErrorKind::kTempSpace:
            return ERRCODE_CONFIGURATION_LIMIT_EXCEEDED;
        case base::ErrorKind::kCancelled:
            return ERRCODE_QUERY_CANCELED;
        case base::ErrorKind::kBug:
            return ERRCODE_INTERNAL_ERROR;
    }
    return ERRCODE_INTERNAL_ERROR;
}

void throw_pending(MemoryContext context) {
    MemoryContextSwitchTo(context);
    ErrorData* volatile data = nullptr;
    // Copying the error may itself run out of memory.
    sigjmp_buf* const stack = PG_exception_stack;
    sigjmp_buf here;
    if (sigsetjmp(here, 0) == 0) {
        PG_exception_stack = &here;
        data = CopyErrorData();
    }
    PG_exception_stack = stack;
    FlushErrorState();
    if (data == nullptr) throw std::bad_alloc();
    throw PgError(data);
}

void capture(ErrorReport& report) noexcept {
    report.data = nullptr;
    report.sqlstate = ERRCODE_INTERNAL_ERROR;
    auto keep = [&](const char* text) { strlcpy(report.message, text, sizeof report.message); };
    try {
        throw;
    } catch (const PgError& error) {
        report.data = error.data();
    } catch (const base::Error& error) {
        report.sqlstate = sqlstate_of(error.kind());
        keep(error.what());
    } catch (const exec::SqlFault& fault) {
        const char* state = fault.sqlstate();
        report.sqlstate = MAKE_SQLSTATE(state[0], state[1], state[2], state[3], state[4]);
        keep(fault.what());
    } catch (const exec::Unrepresentable& reason) {
        report.sqlstate = ERRCODE_FEATURE_NOT_SUPPORTED;
        keep(reason.what());
    } catch (const std::bad_alloc&) {
        report.sqlstate = ERRCODE_OUT_OF_MEMORY;
        keep("out of memory");
    } catch (const std::exception& error) {
        keep(error.what());
    } catch (...) {
        keep("unrecognized C++ exception");
    }
}

void raise_maylongjmp(const ErrorReport& report) {
    if (report.data != nullptr) ReThrowError(report.data);
    ereport(ERROR, (errcode(report.sqlstate), errmsg_internal("%s", report.message)));
    pg_unreachable();
}

bool collation_is_c_maylongjmp(Oid collation) {
#if PG_VERSION_NUM >= 180000
    return OidIsValid(collation) && pg_newlocale_from_collation(collation)->collate_is_c;
#else
    return lc_collate_is_c(collation);
#endif
}

bool ctype_is_c_maylongjmp(Oid collation) {
#if PG_VERSION_NUM >= 180000
    return OidIsValid(collation) && pg_newlocale_from_collation(collation)->ctype_is_c;
#else
    return lc_ctype_is_c(collation);
#endif
}

bool may_read_server_files() noexcept {
    return has_privs_of_role(GetUserId(), ROLE_PG_READ_SERVER_FILES);
}

}  // namespace loom::pg
