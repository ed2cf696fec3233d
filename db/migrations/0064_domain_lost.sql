ALTER TYPE "public"."notification_event" ADD VALUE 'app.domain_lost';--> statement-breakpoint
ALTER TABLE "notifications" ADD COLUMN "app_slug" text;