"""
The policy of Varga, Balassi and Kiss (2021): two metrics of a job through the formula of Kubernetes' autoscaler.

The paper is "Towards autoscaling of Apache Flink jobs", Acta Universitatis Sapientiae, Informatica 13 (1). The rules of
the Horizontal Pod Autoscaler (HPA) are those of Kubernetes' `autoscaling/v2` and its `podautoscaler` controller.
"""
