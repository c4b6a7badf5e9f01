import java.lang.management.ManagementFactory;
import org.apache.helix.HelixManager;
import org.apache.helix.HelixManagerFactory;
import org.apache.helix.InstanceType;
import org.apache.helix.NotificationContext;
import org.apache.helix.controller.HelixControllerMain;
import org.apache.helix.model.Message;
import org.apache.helix.participant.statemachine.StateModel;
import org.apache.helix.participant.statemachine.StateModelFactory;
import org.apache.helix.participant.statemachine.StateModelInfo;
import org.apache.helix.participant.statemachine.Transition;

/**
 * A controller or a participant of Apache Helix 0.6.9, until it is killed.
 *
 * Arguments: ZOOKEEPER CLUSTER controller|participant NAME. A participant knows OnlineOffline and MasterSlave, and
 * prints each transition.
 */
public class HelixMember {
    @StateModelInfo(initialState = "OFFLINE", states = {"ONLINE", "OFFLINE", "MASTER", "SLAVE"})
    public static class Replica extends StateModel {
        private static void print(Message message) {
            System.out.println(message.getPartitionName() + " " + message.getFromState() + " " + message.getToState());
        }

        @Transition(from = "OFFLINE", to = "ONLINE")
        public void goOnline(Message message, NotificationContext context) { print(message); }

        @Transition(from = "ONLINE", to = "OFFLINE")
        public void goOffline(Message message, NotificationContext context) { print(message); }

        @Transition(from = "OFFLINE", to = "SLAVE")
        public void follow(Message message, NotificationContext context) { print(message); }

        @Transition(from = "SLAVE", to = "MASTER")
        public void lead(Message message, NotificationContext context) { print(message); }

        @Transition(from = "MASTER", to = "SLAVE")
        public void resign(Message message, NotificationContext context) { print(message); }

        @Transition(from = "SLAVE", to = "OFFLINE")
        public void stopFollowing(Message message, NotificationContext context) { print(message); }

        @Transition(from = "OFFLINE", to = "DROPPED")
        public void drop(Message message, NotificationContext context) { print(message); }
    }

    public static void main(String[] args) throws Exception {
        String zookeeper = args[0], cluster = args[1], name = args[3];
        if (args[2].equals("controller")) {
            HelixControllerMain.startHelixController(zookeeper, cluster, name, HelixControllerMain.STANDALONE);
        } else {
            HelixManager manager =
                HelixManagerFactory.getZKHelixManager(cluster, name, InstanceType.PARTICIPANT, zookeeper);
            for (String model : new String[] {"OnlineOffline", "MasterSlave"}) {
                manager.getStateMachineEngine().registerStateModelFactory(model, new StateModelFactory<StateModel>() {
                    @Override
                    public StateModel createNewStateModel(String resource, String partition) { return new Replica(); }
                });
            }
            manager.connect();
        }
        System.out.println("started " + ManagementFactory.getRuntimeMXBean().getName());
        Thread.currentThread().join();
    }
}
