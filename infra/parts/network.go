package parts

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// Network is where container workers run: they call out and nobody calls them.
type Network struct {
	awsec2.IVpc
	Subnets *awsec2.SubnetSelection
}

// NewNetwork is the network that the settings name, or one that is made over
// two zones. The zones are the region's first two whatever they are called, so
// that no account is looked at.
func NewNetwork(scope constructs.Construct, i Installation) Network {
	s := i.Settings.Workers
	if s.VPCID != "" {
		return Network{IVpc: awsec2.Vpc_FromVpcAttributes(scope, jsii.String("Network"), &awsec2.VpcAttributes{VpcId: &s.VPCID,
			AvailabilityZones: jsii.Strings(s.AvailabilityZones...), PrivateSubnetIds: jsii.Strings(s.SubnetIDs...)}),
			Subnets: &awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PRIVATE_WITH_EGRESS}}
	}
	subnets := []*awsec2.SubnetConfiguration{{Name: jsii.String("public"), SubnetType: awsec2.SubnetType_PUBLIC, CidrMask: jsii.Number(20), MapPublicIpOnLaunch: jsii.Bool(false)}}
	chosen := awsec2.SubnetType_PUBLIC
	if !s.PublicIP {
		subnets = append(subnets, &awsec2.SubnetConfiguration{Name: jsii.String("workers"), SubnetType: awsec2.SubnetType_PRIVATE_WITH_EGRESS, CidrMask: jsii.Number(20)})
		chosen = awsec2.SubnetType_PRIVATE_WITH_EGRESS
	}
	props := &awsec2.VpcProps{MaxAzs: jsii.Number(2), NatGateways: jsii.Number(gateways(s.PublicIP, s.NATGateways)), SubnetConfiguration: &subnets,
		RestrictDefaultSecurityGroup: jsii.Bool(false),
		// The tables are reached without leaving AWS's own network, and without a NAT gateway's price.
		GatewayEndpoints: &map[string]*awsec2.GatewayVpcEndpointOptions{"Tables": {Service: awsec2.GatewayVpcEndpointAwsService_DYNAMODB()}}}
	if s.FlowLogs {
		log := i.NewLogGroup(constructs.NewConstruct(scope, jsii.String("Flows")), "/aws/vpc/"+i.Name("flows"))
		props.FlowLogs = &map[string]*awsec2.FlowLogOptions{"Flows": {TrafficType: awsec2.FlowLogTrafficType_REJECT,
			Destination: awsec2.FlowLogDestination_ToCloudWatchLogs(log, nil)}}
	}
	vpc := awsec2.NewVpc(scope, jsii.String("Network"), props)
	if !s.FlowLogs {
		Accept(vpc, "AwsSolutions-VPC7", "Flow logs are off in the settings; nothing listens in this network.")
	}
	return Network{IVpc: vpc, Subnets: &awsec2.SubnetSelection{SubnetType: chosen}}
}

func gateways(public bool, wanted int) int {
	if public {
		return 0
	}
	return wanted
}
