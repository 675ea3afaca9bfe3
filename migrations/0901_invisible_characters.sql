-- Up Migration
-- What nobody sees makes no other name and no other id of a refund: a byte order mark before the
-- first id of a file, a blank of no width, a soft hyphen, a mark of direction, a control character.
-- The list is that of isSamePerson in src/core/instructions/decider.ts.
create or replace function tieout.without_lookalikes(words text)
returns text language sql immutable as $$
  select case when getdatabaseencoding() = 'UTF8' then regexp_replace(normalize(words, nfkc),
    '[\u0001-\u0008\u000E-\u001F\u007F-\u0084\u0086-\u009F\u00AD\u034F\u061C\u115F\u1160'
      || '\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u202A-\u202E\u2060-\u206F\u2800\u3164'
      || '\uFE00-\uFE0F\uFEFF\uFFA0\uFFF0-\uFFF8\U0001BCA0-\U0001BCA3'
      || '\U0001D173-\U0001D17A\U000E0000-\U000E0FFF]',
    '', 'g') else words end
$$;
-- Blanks of any kind, also where the comparison is that of bytes.
create or replace function tieout.plain_id(id text)
returns text language sql immutable as $$
  select lower(regexp_replace(tieout.without_lookalikes(id),
    case when getdatabaseencoding() = 'UTF8' then '[\s\u0085\u1680\u2028\u2029]+' else '\s+' end,
    '', 'g'))
$$;

-- Down Migration
create or replace function tieout.without_lookalikes(words text)
returns text language sql immutable as $$
  select case when getdatabaseencoding() = 'UTF8' then normalize(words, nfkc) else words end
$$;
create or replace function tieout.plain_id(id text)
returns text language sql immutable as $$
  select lower(regexp_replace(tieout.without_lookalikes(id), '\s+', '', 'g'))
$$;
