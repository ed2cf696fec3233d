ALTER TYPE "public"."stop_reason" ADD VALUE 'waiting';--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "kept_request" jsonb;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "kept_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "granted_request" jsonb;