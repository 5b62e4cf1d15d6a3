#include "pg/sql/run_sql.h"

#include "pg/bridge/bridge.h"

extern "C" {
#include "executor/spi.h"
}

namespace loom::pg {

void run_sql(const std::string& statement) {
    const char* text = statement.c_str();
    pg_call([&] {
        SPI_connect();
        const int result = SPI_execute(text, false, 0);
        if (result < 0) elog(ERROR, "SPI_execute failed: %s", SPI_result_code_string(result));
        SPI_finish();
    });
}

}  // namespace loom::pg
