"""The paths of Helix's znodes, below the znode of its cluster.

    /C/CONFIGS/{CLUSTER,PARTICIPANT,RESOURCE,CONSTRAINT}/N    configurations; constraints
    /C/STATEMODELDEFS/M                                       a state model
    /C/IDEALSTATES/R                                          where the partitions of a resource should be
    /C/EXTERNALVIEW/R                                         where they are
    /C/LIVEINSTANCES/I  (ephemeral)                           a participant that lives, and its session
    /C/INSTANCES/I/MESSAGES/ID                                a transition that an instance is asked for
    /C/INSTANCES/I/CURRENTSTATES/SESSION/R                    the states of its partitions of a resource
    /C/INSTANCES/I/{ERRORS,STATUSUPDATES,HISTORY}             what became of its transitions and sessions
    /C/CONTROLLER/LEADER  (ephemeral)                         the controller in charge
    /C/CONTROLLER/{HISTORY,PAUSE,MESSAGES,ERRORS,STATUSUPDATES}
    /C/PROPERTYSTORE                                          the application's

Helix 0.6.9: helix-core/.../PropertyPathBuilder.java · book 8.2.1
"""

from __future__ import annotations

from dataclasses import dataclass

INSTANCE_CONTAINERS = ("MESSAGES", "CURRENTSTATES", "ERRORS", "STATUSUPDATES", "HISTORY")
"""The children of an instance, in the order in which a participant creates them."""


@dataclass(frozen=True)
class PropertyPaths:
    """The paths of one cluster."""

    cluster: str

    # --------------------------------------------------------------------------------------------------- containers

    @property
    def root(self) -> str:
        """The cluster itself."""
        return f"/{self.cluster}"

    @property
    def ideal_states(self) -> str:
        """The parent of the ideal states."""
        return f"{self.root}/IDEALSTATES"

    @property
    def external_views(self) -> str:
        """The parent of the external views."""
        return f"{self.root}/EXTERNALVIEW"

    @property
    def state_models(self) -> str:
        """The parent of the state models."""
        return f"{self.root}/STATEMODELDEFS"

    @property
    def live_instances(self) -> str:
        """The parent of the live instances."""
        return f"{self.root}/LIVEINSTANCES"

    @property
    def instances(self) -> str:
        """The parent of all instances, live or not."""
        return f"{self.root}/INSTANCES"

    def configs(self, scope: str) -> str:
        """The parent of the configurations of a scope: CLUSTER, PARTICIPANT, RESOURCE, CONSTRAINT."""
        return f"{self.root}/CONFIGS/{scope}"

    # ------------------------------------------------------------------------------------------------------- records

    @property
    def cluster_config(self) -> str:
        """The configuration of the cluster."""
        return f"{self.configs('CLUSTER')}/{self.cluster}"

    @property
    def message_constraints(self) -> str:
        """The constraints on messages."""
        return f"{self.configs('CONSTRAINT')}/MESSAGE_CONSTRAINT"

    def instance_config(self, instance: str) -> str:
        """The configuration of an instance."""
        return f"{self.configs('PARTICIPANT')}/{instance}"

    def resource_config(self, resource: str) -> str:
        """The configuration of a resource."""
        return f"{self.configs('RESOURCE')}/{resource}"

    def ideal_state(self, resource: str) -> str:
        """The ideal state of a resource."""
        return f"{self.ideal_states}/{resource}"

    def external_view(self, resource: str) -> str:
        """The external view of a resource."""
        return f"{self.external_views}/{resource}"

    def state_model(self, name: str) -> str:
        """A state model."""
        return f"{self.state_models}/{name}"

    def live_instance(self, instance: str) -> str:
        """The session of a live instance."""
        return f"{self.live_instances}/{instance}"

    # ----------------------------------------------------------------------------------------------------- instances

    def instance(self, instance: str, *below: str) -> str:
        """An instance, or a path below it."""
        return "/".join((self.instances, instance, *below))

    def messages(self, instance: str) -> str:
        """The parent of an instance's messages."""
        return self.instance(instance, "MESSAGES")

    def message(self, instance: str, message_id: str) -> str:
        """A message."""
        return self.instance(instance, "MESSAGES", message_id)

    def current_states(self, instance: str, session: str) -> str:
        """The parent of the current states that an instance has in a session."""
        return self.instance(instance, "CURRENTSTATES", session)

    def current_state(self, instance: str, session: str, resource: str) -> str:
        """The current state of an instance's partitions of a resource."""
        return self.instance(instance, "CURRENTSTATES", session, resource)

    # ---------------------------------------------------------------------------------------------------- controller

    @property
    def leader(self) -> str:
        """The controller in charge."""
        return f"{self.root}/CONTROLLER/LEADER"

    @property
    def controller_history(self) -> str:
        """All controllers that were in charge."""
        return f"{self.root}/CONTROLLER/HISTORY"

    @property
    def pause(self) -> str:
        """While it exists, the controller sends nothing."""
        return f"{self.root}/CONTROLLER/PAUSE"

    @property
    def setup_paths(self) -> tuple[str, ...]:
        """The nodes of a new cluster, in the order in which Helix creates it."""
        configs = ("CONFIGS", "CONFIGS/CLUSTER", f"CONFIGS/CLUSTER/{self.cluster}")
        scopes = ("CONFIGS/PARTICIPANT", "CONFIGS/RESOURCE")
        rooms = ("PROPERTYSTORE", "LIVEINSTANCES", "INSTANCES", "EXTERNALVIEW", "STATEMODELDEFS")
        controller = ("", "/HISTORY", "/MESSAGES", "/STATUSUPDATES", "/ERRORS")
        names = ("IDEALSTATES", *configs, *scopes, *rooms, *(f"CONTROLLER{name}" for name in controller))
        return (self.root, *(f"{self.root}/{name}" for name in names))
