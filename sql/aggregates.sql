-- Aggregates of our own. They run in PostgreSQL as well as in the engine, and give the same there.

CREATE FUNCTION loom.approx_count_distinct_add(internal, anyelement) RETURNS internal
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'loom_approx_count_distinct_add';
CREATE FUNCTION loom.approx_count_distinct_combine(internal, internal) RETURNS internal
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'loom_approx_count_distinct_combine';
CREATE FUNCTION loom.approx_count_distinct_serialise(internal) RETURNS bytea
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'loom_approx_count_distinct_serialise';
CREATE FUNCTION loom.approx_count_distinct_deserialise(bytea, internal) RETURNS internal
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE
    AS 'MODULE_PATHNAME', 'loom_approx_count_distinct_deserialise';
CREATE FUNCTION loom.approx_count_distinct_final(internal) RETURNS bigint
    LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'loom_approx_count_distinct_final';

CREATE AGGREGATE loom.approx_count_distinct(anyelement) (
    SFUNC = loom.approx_count_distinct_add,
    STYPE = internal,
    SSPACE = 4096,
    FINALFUNC = loom.approx_count_distinct_final,
    COMBINEFUNC = loom.approx_count_distinct_combine,
    SERIALFUNC = loom.approx_count_distinct_serialise,
    DESERIALFUNC = loom.approx_count_distinct_deserialise,
    PARALLEL = SAFE
);
COMMENT ON AGGREGATE loom.approx_count_distinct(anyelement)
    IS 'about how many distinct values there are; standard error 1.63 %';
