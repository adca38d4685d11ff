//! The tables of the catalog, with the columns that clients read. Source: PostgreSQL 16, chapter 53
//! "System Catalogs" and chapter 37 "The Information Schema". Tables about what Hadal has not, such
//! as indexes, are empty.

/// Creates the schemas and their tables.
pub(super) const CREATE: &str = "
ATTACH ':memory:' AS pg_catalog;
ATTACH ':memory:' AS information_schema;
CREATE TABLE pg_catalog.pg_namespace (oid OID, nspname NAME, nspowner OID, nspacl TEXT);
CREATE TABLE pg_catalog.pg_class (oid OID, relname NAME, relnamespace OID, reltype OID,
  reloftype OID, relowner OID, relam OID, relfilenode OID, reltablespace OID, relpages INT,
  reltuples FLOAT, relallvisible INT, reltoastrelid OID, relhasindex BOOL, relisshared BOOL,
  relpersistence \"CHAR\", relkind \"CHAR\", relnatts INT, relchecks INT, relhasrules BOOL,
  relhastriggers BOOL, relhassubclass BOOL, relrowsecurity BOOL, relforcerowsecurity BOOL,
  relispopulated BOOL, relreplident \"CHAR\", relispartition BOOL, relrewrite OID, relfrozenxid OID,
  relminmxid OID, relacl TEXT, reloptions TEXT, relpartbound TEXT, relhasoids BOOL);
CREATE TABLE pg_catalog.pg_attribute (attrelid OID, attname NAME, atttypid OID, attlen INT,
  attnum INT, attcacheoff INT, atttypmod INT, attndims INT, attbyval BOOL, attalign \"CHAR\",
  attstorage \"CHAR\", attcompression \"CHAR\", attnotnull BOOL, atthasdef BOOL, atthasmissing BOOL,
  attidentity \"CHAR\", attgenerated \"CHAR\", attisdropped BOOL, attislocal BOOL, attinhcount INT,
  attstattarget INT, attcollation OID, attacl TEXT, attoptions TEXT, attfdwoptions TEXT,
  attmissingval TEXT);
CREATE TABLE pg_catalog.pg_type (oid OID, typname NAME, typnamespace OID, typowner OID, typlen INT,
  typbyval BOOL, typtype \"CHAR\", typcategory \"CHAR\", typispreferred BOOL, typisdefined BOOL,
  typdelim \"CHAR\", typrelid OID, typsubscript TEXT, typelem OID, typarray OID, typinput TEXT,
  typoutput TEXT, typreceive TEXT, typsend TEXT, typmodin TEXT, typmodout TEXT, typanalyze TEXT,
  typalign \"CHAR\", typstorage \"CHAR\", typnotnull BOOL, typbasetype OID, typtypmod INT,
  typndims INT, typcollation OID, typdefaultbin TEXT, typdefault TEXT, typacl TEXT);
CREATE TABLE pg_catalog.pg_database (oid OID, datname NAME, datdba OID, encoding INT,
  datlocprovider \"CHAR\", datistemplate BOOL, datallowconn BOOL, datconnlimit INT,
  dattablespace OID, datcollate TEXT, datctype TEXT, daticulocale TEXT, daticurules TEXT,
  datcollversion TEXT, datfrozenxid OID, datminmxid OID, datacl TEXT);
CREATE TABLE pg_catalog.pg_roles (oid OID, rolname NAME, rolsuper BOOL, rolinherit BOOL,
  rolcreaterole BOOL, rolcreatedb BOOL, rolcanlogin BOOL, rolreplication BOOL, rolconnlimit INT,
  rolpassword TEXT, rolvaliduntil TEXT, rolbypassrls BOOL, rolconfig TEXT);
CREATE VIEW pg_catalog.pg_authid AS SELECT * FROM pg_roles;
CREATE VIEW pg_catalog.pg_user AS SELECT rolname AS usename, oid AS usesysid,
  rolcreatedb AS usecreatedb, rolsuper AS usesuper, rolreplication AS userepl FROM pg_roles;
CREATE TABLE pg_catalog.pg_settings (name TEXT, setting TEXT, unit TEXT, category TEXT,
  short_desc TEXT, vartype TEXT, context TEXT, source TEXT, boot_val TEXT, reset_val TEXT);
CREATE TABLE pg_catalog.pg_tables (schemaname NAME, tablename NAME, tableowner NAME,
  tablespace NAME, hasindexes BOOL, hasrules BOOL, hastriggers BOOL, rowsecurity BOOL);
CREATE TABLE pg_catalog.pg_am (oid OID, amname NAME, amhandler TEXT, amtype \"CHAR\");
CREATE TABLE pg_catalog.pg_attrdef (oid OID, adrelid OID, adnum INT, adbin TEXT);
CREATE TABLE pg_catalog.pg_auth_members (roleid OID, member OID, grantor OID, admin_option BOOL);
CREATE TABLE pg_catalog.pg_collation (oid OID, collname NAME, collnamespace OID,
  collprovider \"CHAR\", collisdeterministic BOOL);
CREATE TABLE pg_catalog.pg_constraint (oid OID, conname NAME, connamespace OID, contype \"CHAR\",
  condeferrable BOOL, condeferred BOOL, convalidated BOOL, conrelid OID, contypid OID,
  conindid OID, conparentid OID, confrelid OID, confupdtype \"CHAR\", confdeltype \"CHAR\",
  confmatchtype \"CHAR\", conislocal BOOL, coninhcount INT, connoinherit BOOL, conkey TEXT,
  confkey TEXT, conbin TEXT);
CREATE TABLE pg_catalog.pg_depend (classid OID, objid OID, objsubid INT, refclassid OID,
  refobjid OID, refobjsubid INT, deptype \"CHAR\");
CREATE TABLE pg_catalog.pg_description (objoid OID, classoid OID, objsubid INT, description TEXT);
CREATE TABLE pg_catalog.pg_shdescription (objoid OID, classoid OID, description TEXT);
CREATE TABLE pg_catalog.pg_enum (oid OID, enumtypid OID, enumsortorder FLOAT, enumlabel NAME);
CREATE TABLE pg_catalog.pg_event_trigger (oid OID, evtname NAME);
CREATE TABLE pg_catalog.pg_extension (oid OID, extname NAME, extowner OID, extnamespace OID,
  extversion TEXT);
CREATE TABLE pg_catalog.pg_foreign_server (oid OID, srvname NAME);
CREATE TABLE pg_catalog.pg_foreign_table (ftrelid OID, ftserver OID, ftoptions TEXT);
CREATE TABLE pg_catalog.pg_index (indexrelid OID, indrelid OID, indnatts INT, indnkeyatts INT,
  indisunique BOOL, indnullsnotdistinct BOOL, indisprimary BOOL, indisexclusion BOOL,
  indimmediate BOOL, indisclustered BOOL, indisvalid BOOL, indcheckxmin BOOL, indisready BOOL,
  indislive BOOL, indisreplident BOOL, indkey TEXT, indcollation TEXT, indclass TEXT,
  indoption TEXT, indexprs TEXT, indpred TEXT);
CREATE TABLE pg_catalog.pg_indexes (schemaname NAME, tablename NAME, indexname NAME,
  tablespace NAME, indexdef TEXT);
CREATE TABLE pg_catalog.pg_inherits (inhrelid OID, inhparent OID, inhseqno INT,
  inhdetachpending BOOL);
CREATE TABLE pg_catalog.pg_language (oid OID, lanname NAME);
CREATE TABLE pg_catalog.pg_locks (locktype TEXT, relation OID, pid INT, mode TEXT, granted BOOL);
CREATE TABLE pg_catalog.pg_matviews (schemaname NAME, matviewname NAME, matviewowner NAME,
  definition TEXT);
CREATE TABLE pg_catalog.pg_operator (oid OID, oprname NAME, oprleft OID, oprright OID,
  oprresult OID);
CREATE TABLE pg_catalog.pg_opclass (oid OID, opcname NAME, opcdefault BOOL);
CREATE TABLE pg_catalog.pg_partitioned_table (partrelid OID, partstrat \"CHAR\", partdefid OID);
CREATE TABLE pg_catalog.pg_policy (oid OID, polname NAME, polrelid OID, polcmd \"CHAR\",
  polpermissive BOOL, polroles TEXT, polqual TEXT, polwithcheck TEXT);
CREATE TABLE pg_catalog.pg_proc (oid OID, proname NAME, pronamespace OID, proowner OID,
  prolang OID, prokind \"CHAR\", proretset BOOL, prorettype OID, pronargs INT, proargtypes TEXT,
  proallargtypes TEXT, proargmodes TEXT, proargnames TEXT, prosrc TEXT, proacl TEXT);
CREATE TABLE pg_catalog.pg_publication (oid OID, pubname NAME, puballtables BOOL);
CREATE TABLE pg_catalog.pg_publication_namespace (oid OID, pnpubid OID, pnnspid OID);
CREATE TABLE pg_catalog.pg_publication_rel (oid OID, prpubid OID, prrelid OID, prqual TEXT,
  prattrs TEXT);
CREATE TABLE pg_catalog.pg_range (rngtypid OID, rngsubtype OID, rngmultitypid OID);
CREATE TABLE pg_catalog.pg_rewrite (oid OID, rulename NAME, ev_class OID, ev_type \"CHAR\",
  ev_enabled \"CHAR\");
CREATE TABLE pg_catalog.pg_sequence (seqrelid OID, seqtypid OID, seqstart BIGINT,
  seqincrement BIGINT, seqmax BIGINT, seqmin BIGINT, seqcache BIGINT, seqcycle BOOL);
CREATE TABLE pg_catalog.pg_sequences (schemaname NAME, sequencename NAME);
CREATE TABLE pg_catalog.pg_stat_activity (datname NAME, pid INT, usename NAME, state TEXT,
  query TEXT, query_start TEXT);
CREATE TABLE pg_catalog.pg_stat_user_tables (relid OID, schemaname NAME, relname NAME,
  n_live_tup BIGINT);
CREATE TABLE pg_catalog.pg_statistic_ext (oid OID, stxrelid OID, stxname NAME, stxnamespace OID,
  stxstattarget INT, stxkeys TEXT, stxkind TEXT);
CREATE TABLE pg_catalog.pg_tablespace (oid OID, spcname NAME);
CREATE TABLE pg_catalog.pg_timezone_names (name TEXT, abbrev TEXT);
CREATE TABLE pg_catalog.pg_trigger (oid OID, tgrelid OID, tgparentid OID, tgname NAME, tgfoid OID,
  tgtype INT, tgenabled \"CHAR\", tgisinternal BOOL, tgconstraint OID);
CREATE TABLE pg_catalog.pg_views (schemaname NAME, viewname NAME, viewowner NAME, definition TEXT);
CREATE TABLE information_schema.schemata (catalog_name NAME, schema_name NAME, schema_owner NAME);
CREATE TABLE information_schema.tables (table_catalog NAME, table_schema NAME, table_name NAME,
  table_type TEXT, is_insertable_into TEXT, is_typed TEXT);
CREATE TABLE information_schema.columns (table_catalog NAME, table_schema NAME, table_name NAME,
  column_name NAME, ordinal_position INT, column_default TEXT, is_nullable TEXT, data_type TEXT,
  character_maximum_length INT, character_octet_length INT, numeric_precision INT,
  numeric_precision_radix INT, numeric_scale INT, datetime_precision INT, collation_name NAME,
  domain_name NAME, udt_catalog NAME, udt_schema NAME, udt_name NAME, dtd_identifier TEXT,
  is_identity TEXT, identity_generation TEXT, is_generated TEXT, generation_expression TEXT,
  is_updatable TEXT);
CREATE TABLE information_schema.views (table_catalog NAME, table_schema NAME, table_name NAME,
  view_definition TEXT);
CREATE TABLE information_schema.table_constraints (constraint_catalog NAME, constraint_schema NAME,
  constraint_name NAME, table_catalog NAME, table_schema NAME, table_name NAME,
  constraint_type TEXT, is_deferrable TEXT, initially_deferred TEXT);
CREATE TABLE information_schema.key_column_usage (constraint_catalog NAME, constraint_schema NAME,
  constraint_name NAME, table_catalog NAME, table_schema NAME, table_name NAME, column_name NAME,
  ordinal_position INT, position_in_unique_constraint INT);
CREATE TABLE information_schema.referential_constraints (constraint_catalog NAME,
  constraint_schema NAME, constraint_name NAME, unique_constraint_schema NAME,
  unique_constraint_name NAME, update_rule TEXT, delete_rule TEXT);
CREATE TABLE information_schema.constraint_column_usage (table_catalog NAME, table_schema NAME,
  table_name NAME, column_name NAME, constraint_schema NAME, constraint_name NAME);
CREATE TABLE information_schema.routines (specific_schema NAME, specific_name NAME,
  routine_schema NAME, routine_name NAME, routine_type TEXT, data_type TEXT);
CREATE TABLE information_schema.parameters (specific_schema NAME, specific_name NAME,
  ordinal_position INT, parameter_name NAME, data_type TEXT);
CREATE TABLE information_schema.sequences (sequence_schema NAME, sequence_name NAME);
CREATE TABLE information_schema.table_privileges (grantor NAME, grantee NAME, table_catalog NAME,
  table_schema NAME, table_name NAME, privilege_type TEXT, is_grantable TEXT);
CREATE TABLE information_schema.triggers (trigger_schema NAME, trigger_name NAME,
  event_object_schema NAME, event_object_table NAME);
";
