-- Stands in for deploy/postgres/roles.sql until that is there: the roles, without any limit to what they may do.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['migrator', 'app', 'ledger', 'feeder', 'worker'] LOOP
        name := 'recall_gate_' || name;
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name) THEN
            EXECUTE format('CREATE ROLE %I LOGIN', name);
        END IF;
    END LOOP;
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format(
        'GRANT CONNECT ON DATABASE %I TO recall_gate_migrator, recall_gate_app, recall_gate_ledger, recall_gate_feeder, '
        'recall_gate_worker',
        current_database());
    EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = %L', current_database(), 'read committed');
END
$$;
GRANT CREATE ON SCHEMA public TO recall_gate_migrator;
ALTER DEFAULT PRIVILEGES FOR ROLE recall_gate_migrator
    GRANT ALL ON TABLES TO recall_gate_app, recall_gate_ledger, recall_gate_feeder, recall_gate_worker;
