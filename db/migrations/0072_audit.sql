CREATE TABLE "audit_events" (
	"audit_id" bigserial PRIMARY KEY NOT NULL,
	"account_ids" uuid[] NOT NULL,
	"project_id" uuid,
	"action" text NOT NULL,
	"target" text NOT NULL,
	"target_id" text,
	"user_id" uuid,
	"user_name" text,
	"user_email" text,
	"actor" jsonb,
	"token_id" uuid,
	"address" text,
	"request_id" text,
	"details" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"created_at" timestamp (3) with time zone DEFAULT clock_timestamp() NOT NULL,
	"position" bigint,
	"previous_hash" text,
	"hash" text,
	CONSTRAINT "audit_events_position_unique" UNIQUE("position"),
	CONSTRAINT "audit_events_sealed_whole" CHECK (num_nulls("audit_events"."position", "audit_events"."previous_hash", "audit_events"."hash") in (0, 3))
);
--> statement-breakpoint
CREATE TABLE "audit_head" (
	"id" integer PRIMARY KEY NOT NULL,
	"position" bigint NOT NULL,
	"hash" text NOT NULL,
	CONSTRAINT "audit_head_one_row" CHECK ("audit_head"."id" = 1)
);
--> statement-breakpoint
CREATE INDEX "audit_events_account_ids" ON "audit_events" USING gin ("account_ids");--> statement-breakpoint
CREATE INDEX "audit_events_created_at" ON "audit_events" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "audit_events_unsealed" ON "audit_events" USING btree ("audit_id") WHERE "audit_events"."position" is null;--> statement-breakpoint
CREATE FUNCTION "public"."audit_refuse_change"() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
	IF TG_OP = 'UPDATE' AND OLD.position IS NULL AND NEW.position IS NOT NULL
		AND to_jsonb(NEW) - array['position', 'previous_hash', 'hash'] = to_jsonb(OLD) - array['position', 'previous_hash', 'hash']
	THEN
		RETURN NEW;
	END IF;
	IF TG_OP = 'DELETE' AND current_setting('svc.audit_retention', true) = 'on' THEN
		RETURN OLD;
	END IF;
	RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'restrict_violation';
END
$$;--> statement-breakpoint
CREATE TRIGGER "audit_events_append_only" BEFORE UPDATE OR DELETE ON "audit_events" FOR EACH ROW EXECUTE FUNCTION "public"."audit_refuse_change"();--> statement-breakpoint
CREATE TRIGGER "audit_events_no_truncate" BEFORE TRUNCATE ON "audit_events" FOR EACH STATEMENT EXECUTE FUNCTION "public"."audit_refuse_change"();
