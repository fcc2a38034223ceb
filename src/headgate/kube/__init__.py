"""The way to Kubernetes' API: who logs in, one call, what an answer means. What is asked is its users' business."""
