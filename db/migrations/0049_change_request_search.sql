CREATE INDEX "change_requests_project_id_status_number" ON "change_requests" USING btree ("project_id","status","number");--> statement-breakpoint
CREATE INDEX "change_requests_project_id_updated_at" ON "change_requests" USING btree ("project_id","updated_at","number");--> statement-breakpoint
CREATE FUNCTION "public"."change_request_terms"(project_id uuid, number integer, status "public"."cr_status", draft boolean, created_by uuid, session_id text, title text, head_ref text, base_ref text, created_at timestamp with time zone, updated_at timestamp with time zone, merged_at timestamp with time zone) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE PARALLEL RESTRICTED COST 10000 AS $$
DECLARE
	seed bigint := hashtextextended(project_id::text, 0);
	words text := lower(title) || chr(10) || lower(head_ref) || chr(10) || lower(base_ref);
	terms bigint[] := array[
		hashtextextended('is:' || status::text, seed), hashtextextended('author:' || created_by::text, seed),
		hashtextextended('head:' || head_ref, seed), hashtextextended('base:' || base_ref, seed),
		hashtextextended('block:' || (number >> 14), seed)
	];
	days text[] := array['created:' || to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD'), 'updated:' || to_char(updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')];
	day text;
BEGIN
	IF draft THEN terms := terms || hashtextextended('is:draft', seed); END IF;
	IF session_id IS NOT NULL THEN terms := terms || hashtextextended('session:' || session_id, seed); END IF;
	IF merged_at IS NOT NULL THEN days := days || ('merged:' || to_char(merged_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')); END IF;
	FOREACH day IN ARRAY days LOOP
		terms := terms || array[hashtextextended(day, seed), hashtextextended(left(day, -3), seed), hashtextextended(left(day, -6), seed)];
	END LOOP;
	FOR place IN 1 .. length(words) LOOP
		terms := terms || array[hashtextextended(substr(words, place, 1), seed), hashtextextended(substr(words, place, 2), seed), hashtextextended(substr(words, place, 3), seed)];
	END LOOP;
	RETURN terms;
END
$$;--> statement-breakpoint
CREATE INDEX "change_requests_terms" ON "change_requests" USING gin (change_request_terms("project_id", "number", "status", "draft", "created_by", "origin_session_id", "title", "head_ref", "base_ref", "created_at", "updated_at", "merged_at")) WITH (fastupdate=false);