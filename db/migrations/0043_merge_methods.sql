CREATE TYPE "public"."merge_method" AS ENUM('merge', 'squash', 'rebase', 'ff-only');--> statement-breakpoint
ALTER TABLE "change_requests" ADD COLUMN "merge_method" "merge_method";--> statement-breakpoint
ALTER TABLE "merge_intents" ADD COLUMN "method" "merge_method" DEFAULT 'merge' NOT NULL;--> statement-breakpoint
ALTER TABLE "projects" ADD COLUMN "merge_methods" text[] DEFAULT '{"merge","squash","rebase"}' NOT NULL;