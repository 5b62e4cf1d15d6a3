-- Without a device: nothing is different, and the view says why.
SELECT name, problem FROM loom.gpu_devices;
SHOW pg_loom.device;
SET pg_loom.device = gpu;
SELECT count(*), sum(k) FROM generate_series(1, 3) AS k;
SET pg_loom.device = other;
RESET pg_loom.device;
