-- The three roles of a database of tieout, and the database: once, by the administrator of a
-- PostgreSQL server (docs/OPERATIONS.md, Roles of the database). The passwords come from the
-- environment, so that none stands in a file or a history:
--   DB_OWNER_PASSWORD=... DB_PASSWORD=... DB_READER_PASSWORD=... psql -f deploy/roles.sql postgres
\set ON_ERROR_STOP on
\getenv owner_password DB_OWNER_PASSWORD
\getenv writer_password DB_PASSWORD
\getenv reader_password DB_READER_PASSWORD

-- Migrates and restores; nothing that runs every night has its password.
create role tieout_owner login password :'owner_password';
-- The program: reads and writes rows, and can neither take a guard away nor empty a table.
create role tieout login password :'writer_password';
-- Auditors: read all but what opens a door.
create role tieout_reader login password :'reader_password';

create database tieout owner tieout_owner encoding 'UTF8' template template0;
revoke connect on database tieout from public;
grant connect, temporary on database tieout to tieout, tieout_reader;
