-- The roles of Recall Gate, for one database. Run once by a superuser, connected to that database:
--
--   psql -d recall_gate -f deploy/postgres/roles.sql
--
-- then give each role a way to log in (a password, a certificate), and run `recall-gate migrate`. Running it again
-- changes nothing.
--
--   recall_gate_migrator  owns the tables and changes the schema; `recall-gate migrate`, `recall-gate ledger prune`
--   recall_gate_app       reads and writes memories, under row-level security by tenant and owner
--   recall_gate_ledger    appends the decisions of reads, of all tenants together; reads no text
--   recall_gate_feeder    numbers the feed; reads no text
--   recall_gate_worker    removes what is over; reads no text
--
-- What each may do is granted by the migrations. None is a superuser, none bypasses row-level security, and none but
-- the migrator owns anything; `recall-gate serve` refuses to start with a role that could.

DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['recall_gate_migrator', 'recall_gate_app', 'recall_gate_ledger',
                                  'recall_gate_feeder', 'recall_gate_worker'] LOOP
        -- Another database of this server may have made it, at this very moment even.
        BEGIN
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
                EXECUTE format('CREATE ROLE %I LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS',
                               wanted);
            END IF;
        EXCEPTION
            WHEN duplicate_object OR unique_violation THEN NULL;
        END;
        EXECUTE format('GRANT CONNECT ON DATABASE %I TO %I', current_database(), wanted);
        EXECUTE format('GRANT USAGE ON SCHEMA public TO %I', wanted);
    END LOOP;

    -- Nobody else may connect, and nobody but the migrator makes anything.
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    REVOKE ALL ON SCHEMA public FROM PUBLIC;
    GRANT CREATE ON SCHEMA public TO recall_gate_migrator;

    -- A unit of work that hangs must not hold a connection, or locks that others wait for. A call's own deadline is
    -- shorter where it has one.
    FOREACH wanted IN ARRAY ARRAY['recall_gate_app', 'recall_gate_ledger', 'recall_gate_feeder',
                                  'recall_gate_worker'] LOOP
        EXECUTE format('ALTER ROLE %I IN DATABASE %I SET statement_timeout = %L', wanted, current_database(), '30s');
        EXECUTE format('ALTER ROLE %I IN DATABASE %I SET lock_timeout = %L', wanted, current_database(), '10s');
        EXECUTE format('ALTER ROLE %I IN DATABASE %I SET idle_in_transaction_session_timeout = %L',
                       wanted, current_database(), '30s');
    END LOOP;
END
$$;
