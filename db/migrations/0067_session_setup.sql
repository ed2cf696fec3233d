ALTER TYPE "public"."boot_step" ADD VALUE 'setup';--> statement-breakpoint
ALTER TABLE "project_sessions" ADD COLUMN "setup" jsonb;