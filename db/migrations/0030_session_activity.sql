CREATE TYPE "public"."session_activity" AS ENUM('working', 'waiting', 'idle');--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "activity" "session_activity";--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "activity_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "waiting_for" jsonb;