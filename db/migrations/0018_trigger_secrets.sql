ALTER TABLE "project_sessions" ADD COLUMN "secret_audience" text[] DEFAULT '{"sessions"}' NOT NULL;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "secret_names" text[];--> statement-breakpoint
ALTER TABLE "triggers" ADD COLUMN "model" text;--> statement-breakpoint
ALTER TABLE "triggers" ADD COLUMN "secrets" text[];--> statement-breakpoint
UPDATE "project_sessions" SET "secret_audience" = ARRAY['sessions', 'triggers:' || "triggers"."slug"]
  FROM "trigger_firings" JOIN "triggers" ON "triggers"."trigger_id" = "trigger_firings"."trigger_id"
  WHERE "trigger_firings"."session_id"::text = "project_sessions"."session_id";