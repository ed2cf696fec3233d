ALTER TYPE "public"."boot_step" ADD VALUE 'waiting';--> statement-breakpoint
ALTER TABLE "runs" ADD COLUMN "blocked_on" jsonb;