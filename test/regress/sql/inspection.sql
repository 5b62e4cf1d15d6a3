-- What lies behind a table.
SELECT regexp_replace(path, '.*/', '') AS file, format, rows, row_groups, columns FROM loom.files('six_p')
UNION ALL SELECT regexp_replace(path, '.*/', ''), format, rows, row_groups, columns FROM loom.files('six_a');
SELECT row_group, row_group_rows, "column", codec, min, max, null_count, has_page_index FROM loom.column_chunks('six_p');
SELECT row_group, "column", min, max, min_exact, max_exact FROM loom.column_chunks('six_a');
SELECT field, key, value FROM pgstrom.arrow_fdw_metadata_info('six_a') WHERE key ~ 'values' ORDER BY 1, 2;
SELECT loom.arrow_fdw_check_pattern('f_202408_tokyo.arrow', 'f_@{ymd}_${region}.arrow');
SELECT loom.arrow_fdw_check_pattern('x', 'y*');
SELECT * FROM loom.files('pg_class');
SELECT * FROM loom.files('six_h');
