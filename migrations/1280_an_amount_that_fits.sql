-- Up Migration
-- What is rounded to cents may have one digit more than a column of money holds.
CREATE OR REPLACE FUNCTION tieout.usable_amount(amount numeric)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when amount > 0 and round(amount, 2) < 1e18 then amount end
$function$;

-- Down Migration
CREATE OR REPLACE FUNCTION tieout.usable_amount(amount numeric)
 RETURNS numeric
 LANGUAGE sql
 IMMUTABLE PARALLEL SAFE
AS $function$
  select case when amount > 0 and amount < 1e18 then amount end
$function$;
