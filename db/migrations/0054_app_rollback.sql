ALTER TYPE "public"."deploy_reason" ADD VALUE 'rollback';--> statement-breakpoint
ALTER TABLE "app_deployments" ADD COLUMN "created_actor" jsonb;--> statement-breakpoint
ALTER TABLE "app_deployments" ADD COLUMN "previous_commit" text;--> statement-breakpoint
ALTER TABLE "app_deployments" ADD COLUMN "rollback_to" integer;--> statement-breakpoint
ALTER TABLE "apps" ADD COLUMN "is_pinned" boolean DEFAULT false NOT NULL;